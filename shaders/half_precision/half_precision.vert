#version 450
// Mobile: 16-bit varyings and mediump ones beside full ones.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 2) in vec2 uv;
layout(location = 3) in ivec2 kind;
layout(location = 0) out f16vec4 vColor;
layout(location = 1) flat out float16_t vGloss;
layout(location = 2) flat out i16vec2 vKind;
layout(location = 3) out mediump vec2 vUv;
layout(location = 4) flat out uint16_t vFlags;
layout(location = 5) out f16vec2 vDead;
void main() {
    vColor = f16vec4(color);
    vGloss = float16_t(0.75);
    vKind = i16vec2(kind) * int16_t(3);
    vUv = uv;
    vFlags = uint16_t(kind.x & 1) + uint16_t(2);
    vDead = f16vec2(uv) * float16_t(0.5);
    gl_Position = vec4(position, 1.0);
}
