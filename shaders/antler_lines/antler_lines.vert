#version 450
// Branches as curves of three points.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 bark;
layout(location = 2) in vec4 velvet;
layout(location = 3) in float width;
layout(location = 0) out vec4 vBark;
layout(location = 1) out vec4 vVelvet;
layout(location = 2) out float vWidth;
void main() {
    vBark = bark;
    vVelvet = velvet * bark.wzyx;
    vWidth = abs(width) + 0.1;
    gl_Position = vec4(position, 1.0);
}
