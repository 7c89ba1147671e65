#version 450
// Outlines: triangles with their neighbours.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 ink;
layout(location = 0) out vec3 vWorld;
layout(location = 1) out vec4 vInk;
layout(location = 2) out vec3 vNormal;
layout(location = 3) out float vWidth;
void main() {
    vWorld = position;
    vInk = ink;
    vNormal = normal;
    vWidth = 0.02;
    gl_Position = vec4(position, 1.0);
}
