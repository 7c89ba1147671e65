#version 450
// Two 16-bit numbers that are one.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(location = 0) in f16vec3 gColor;
layout(location = 1) flat in uint16_t gPage;
layout(location = 2) flat in uint16_t gPageAgain;
layout(location = 3) in f16vec2 gUv;
layout(location = 0) out vec4 color;
layout(location = 1) out uvec2 page;
void main() {
    color = vec4(vec3(gColor), 1.0) + vec4(vec2(gUv), 0.0, 0.0);
    page = uvec2(gPage, gPageAgain);
}
