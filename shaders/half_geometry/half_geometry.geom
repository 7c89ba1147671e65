#version 450
// Quads of a fixed half size.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;
layout(location = 0) in f16vec3 vColor[];
layout(location = 1) in uint16_t vPage[];
layout(location = 2) in float16_t vSize[];
layout(location = 3) in f16vec4 vDead[];
layout(location = 0) out f16vec3 gColor;
layout(location = 1) flat out uint16_t gPage;
layout(location = 2) flat out uint16_t gPageAgain;
layout(location = 3) out f16vec2 gUv;
void main() {
    for (int i = 0; i < 4; ++i) {
        vec2 at = vec2(i & 1, i >> 1);
        gColor = vColor[0];
        gPage = vPage[0];
        gPageAgain = vPage[0];
        gUv = f16vec2(at);
        gl_Position = gl_in[0].gl_Position + vec4(at * float(vSize[0]), 0.0, 0.0);
        EmitVertex();
    }
}
