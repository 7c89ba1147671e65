#version 450
// Depth pre-pass of tessellated ground: shares its vertex shader with the colour pass.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out vec4 vColor;
void main() {
    vNormal = normal;
    vUv = uv;
    vColor = vec4(uv, 0.5, 1.0);
    gl_Position = vec4(position, 1.0);
}
