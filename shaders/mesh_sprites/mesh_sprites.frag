#version 450
// Glow and the numbers.
#extension GL_EXT_mesh_shader : require
layout(location = 0) in Corner { vec2 uv; vec4 tint; } corners;
layout(location = 2) perprimitiveEXT in Sprite { vec4 glow; flat ivec2 page; } sprites;
layout(location = 0) out vec4 color;
layout(location = 1) out ivec4 numbers;
void main() {
    color = corners.tint * sprites.glow + vec4(corners.uv, 0.0, 0.0);
    numbers = ivec4(sprites.page, gl_PrimitiveID, gl_Layer);
}
