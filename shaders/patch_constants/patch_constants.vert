#version 450
// Blocks of a city: what belongs to the block stands in every corner.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 facade;
layout(location = 2) in ivec4 style;
layout(location = 0) out vec4 vFacade;
layout(location = 1) flat out ivec4 vStyle;
layout(location = 2) out vec3 vGround;
layout(location = 3) out vec2 vConstant;
void main() {
    vFacade = facade;
    vStyle = style & 7;
    vGround = vec3(position.xz, 0.0);
    vConstant = vec2(0.25, 0.75);
    gl_Position = vec4(position, 1.0);
}
