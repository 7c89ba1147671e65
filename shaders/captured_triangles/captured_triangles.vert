#version 450
// Picking volumes: drawn and captured at once.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 vColor;
layout(location = 1) out vec2 vUv;
layout(location = 2) out vec3 vPlace;
void main() {
    vColor = color;
    vUv = uv;
    vPlace = position * 0.5;
    gl_Position = vec4(position, 1.0);
}
