#version 450
// Stickers with 16-bit values through a geometry shader.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 2) in uvec2 page;
layout(location = 0) out f16vec3 vColor;
layout(location = 1) out uint16_t vPage;
layout(location = 2) out float16_t vSize;
layout(location = 3) out f16vec4 vDead;
void main() {
    vColor = f16vec3(color.rgb);
    vPage = uint16_t(page.x) * uint16_t(257);
    vSize = float16_t(0.125);
    vDead = f16vec4(color);
    gl_Position = vec4(position, 1.0);
}
