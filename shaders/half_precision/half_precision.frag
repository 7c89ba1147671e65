#version 450
// All of them but one are read.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(location = 0) in f16vec4 vColor;
layout(location = 1) flat in float16_t vGloss;
layout(location = 2) flat in i16vec2 vKind;
layout(location = 3) in mediump vec2 vUv;
layout(location = 4) flat in uint16_t vFlags;
layout(location = 0) out vec4 color;
layout(location = 1) out ivec4 numbers;
void main() {
    color = vec4(vColor) * float(vGloss) + vec4(vUv, 0.0, 0.0);
    numbers = ivec4(int(vKind.x), int(vKind.y), int(vFlags), 1);
}
