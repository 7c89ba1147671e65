#version 450
// Voxelization: world positions, the axis is chosen for each triangle.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 3) in uint material;
layout(location = 0) out vec3 vWorld;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec2 vUv;
layout(location = 3) flat out uint vMaterial;
layout(location = 4) out vec3 vLight;
void main() {
    vWorld = position * 0.5 + 0.5;
    vNormal = normal;
    vUv = uv;
    vMaterial = material & 3u;
    vLight = vec3(0.9, 0.8, 0.7);
    gl_Position = vec4(position, 1.0);
}
