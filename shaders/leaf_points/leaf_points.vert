#version 450
// Leaves scattered over branches: points from the tessellator, cards from the geometry shader.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 autumn;
layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec4 vAutumn;
layout(location = 2) out vec4 vAutumnAgain;
layout(location = 3) out float vFlutter;
void main() {
    vNormal = normal;
    vAutumn = autumn;
    vAutumnAgain = autumn;
    vFlutter = 0.125;
    gl_Position = vec4(position, 1.0);
}
