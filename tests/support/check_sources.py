"""A vertex shader with a fragment shader that fits it and one that does not, for `check`."""

from __future__ import annotations

VERT = """#version 450
layout(location = 0) out vec4 colour;
layout(location = 1) out vec3 normal;
layout(location = 2) out vec2 unset;
void main() { gl_Position = vec4(0); colour = vec4(1); normal = vec3(1); }
"""
FITS = """#version 450
layout(location = 0) in vec4 colour;
layout(location = 1) in vec3 normal;
layout(location = 0) out vec4 target;
void main() { target = colour + normal.xyxy; }
"""
BROKEN = """#version 450
layout(location = 0) in vec4 colour;
layout(location = 1) flat in ivec3 normal;
layout(location = 2) in vec2 unset;
layout(location = 5, component = 1) in vec2 uv;
layout(location = 0) out vec4 target;
void main() { target = colour + normal.x + uv.x + unset.y; }
"""
