"""An OpenGL ES program: triangles into an offscreen surface, its pixels to the file given.

`python -m tests.render.gl_program OUT.npy`, with Mesa's Zink (MESA_LOADER_DRIVER_OVERRIDE=zink) it
runs on Vulkan: the layer's tests run it with and without the layer.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

SIZE = 64
VERTEX = b"""#version 300 es
layout(location = 0) in vec2 corner;
uniform vec4 tint;
out vec3 color; out vec4 unread; out float same;
void main() {
    color = vec3(corner, 0.25);
    unread = vec4(corner, corner) * 7.0;
    same = 0.5;
    gl_Position = vec4(corner * 3.0 - 1.0, tint.w, 1.0);
}
"""
FRAGMENT = b"""#version 300 es
precision highp float;
in vec3 color; in vec4 unread; in float same;
uniform vec4 tint;
out vec4 result;
void main() { result = vec4(color * tint.xyz, same); }
"""


def display_and_context(egl: ctypes.CDLL) -> None:
    """A current context without any window (EGL_MESA_platform_surfaceless)."""
    egl.eglGetPlatformDisplay.restype = ctypes.c_void_p
    egl.eglGetPlatformDisplay.argtypes = [ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p]
    display = ctypes.c_void_p(egl.eglGetPlatformDisplay(0x31DD, None, None))
    assert egl.eglInitialize(display, None, None), "no display"
    assert egl.eglBindAPI(0x30A0)
    config, count = ctypes.c_void_p(), ctypes.c_int()
    wanted = (ctypes.c_int * 5)(0x3040, 0x40, 0x3033, 0x1, 0x3038)  # ES 3, pbuffer
    assert egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count))
    version = (ctypes.c_int * 3)(0x3098, 3, 0x3038)
    egl.eglCreateContext.restype = ctypes.c_void_p
    context = ctypes.c_void_p(egl.eglCreateContext(display, config, None, version))
    size = (ctypes.c_int * 5)(0x3057, SIZE, 0x3056, SIZE, 0x3038)
    egl.eglCreatePbufferSurface.restype = ctypes.c_void_p
    surface = ctypes.c_void_p(egl.eglCreatePbufferSurface(display, config, size))
    assert egl.eglMakeCurrent(display, surface, surface, context), "no context"


def shader(gl: ctypes.CDLL, kind: int, source: bytes) -> int:
    made = gl.glCreateShader(kind)
    text = ctypes.c_char_p(source)
    gl.glShaderSource(made, 1, ctypes.byref(text), None)
    gl.glCompileShader(made)
    good = ctypes.c_int()
    gl.glGetShaderiv(made, 0x8B81, ctypes.byref(good))
    assert good.value, "a shader does not compile"
    return int(made)


def main(out: str) -> None:
    egl = ctypes.CDLL("libEGL.so.1")
    gl = ctypes.CDLL("libGLESv2.so.2")
    display_and_context(egl)
    gl.glGetString.restype = ctypes.c_char_p
    print(gl.glGetString(0x1F01).decode())  # GL_RENDERER: says whether it is Zink
    program = gl.glCreateProgram()
    gl.glAttachShader(program, shader(gl, 0x8B31, VERTEX))
    gl.glAttachShader(program, shader(gl, 0x8B30, FRAGMENT))
    gl.glLinkProgram(program)
    gl.glUseProgram(program)
    corners = (ctypes.c_float * 6)(0, 0, 1, 0, 0, 1)
    gl.glVertexAttribPointer(0, 2, 0x1406, 0, 0, corners)
    gl.glEnableVertexAttribArray(0)
    tint = (ctypes.c_float * 4)(1.0, 0.75, 0.5, 0.25)
    gl.glUniform4fv(gl.glGetUniformLocation(program, b"tint"), 1, tint)
    for _ in range(3):  # drivers make their best pipeline some draws later
        gl.glDrawArrays(4, 0, 3)
        gl.glFinish()
    pixels = (ctypes.c_ubyte * (SIZE * SIZE * 4))()
    gl.glReadPixels(0, 0, SIZE, SIZE, 0x1908, 0x1401, pixels)
    assert gl.glGetError() == 0
    np.save(out, np.frombuffer(pixels, np.uint8).reshape(SIZE, SIZE, 4))


if __name__ == "__main__":
    main(sys.argv[1])
