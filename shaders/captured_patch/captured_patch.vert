#version 450
// Baking a tessellated surface into a buffer.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 3) in vec4 color;
layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out vec4 vColor;
void main() {
    vNormal = normal;
    vUv = uv;
    vColor = color;
    gl_Position = vec4(position, 1.0);
}
