#version 450
// Rocks: tessellated only where they are near.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out float vNear;
void main() {
    vNormal = normal;
    vUv = uv;
    vNear = position.z * 2.0;
    gl_Position = vec4(position, 1.0);
}
