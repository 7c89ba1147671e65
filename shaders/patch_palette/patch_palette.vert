#version 450
// Patches with colours of their own.

layout(location = 0) in vec3 position;
layout(location = 1) in vec4 paint;

layout(location = 0) out vec4 corner;

void main() {
    corner = paint;
    gl_Position = vec4(position, 1.0);
}
