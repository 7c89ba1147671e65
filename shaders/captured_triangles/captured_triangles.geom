#version 450
// The fragment shader reads half of what transform feedback keeps, and the reverse.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec4 vColor[];
layout(location = 1) in vec2 vUv[];
layout(location = 2) in vec3 vPlace[];
layout(xfb_buffer = 0, xfb_stride = 64) out gl_PerVertex {
    layout(xfb_offset = 0) vec4 gl_Position;
};
layout(location = 0, xfb_buffer = 0, xfb_offset = 16, xfb_stride = 64) out vec4 gColor;
layout(location = 1, xfb_buffer = 0, xfb_offset = 32, xfb_stride = 64) out vec3 gPlace;
layout(location = 2) out vec2 gUv;
layout(location = 3, xfb_buffer = 0, xfb_offset = 48, xfb_stride = 64) flat out ivec2 gNumber;
layout(location = 4) out vec4 gDead;
layout(location = 5) out vec4 gColorAgain;
void main() {
    for (int i = 0; i < 3; ++i) {
        gColor = vColor[i];
        gColorAgain = vColor[i];
        gPlace = vPlace[i];
        gUv = vUv[i];
        gNumber = ivec2(gl_PrimitiveIDIn, i);
        gDead = vColor[2 - i];
        gl_Position = gl_in[i].gl_Position;
        EmitVertex();
    }
    EndPrimitive();
}
