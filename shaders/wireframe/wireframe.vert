#version 450
// Wireframe overlay over a shaded mesh: shared mesh vertex shader.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 3) in vec4 color;
layout(push_constant) uniform Push { mat4 view; vec4 lineColor; float lineWidth; } push;
layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out vec4 vColor;
layout(location = 3) out vec3 vWorld;
void main() {
    vNormal = normal;
    vUv = uv;
    vColor = color;
    vWorld = position;
    gl_Position = push.view * vec4(position, 1.0);
}
