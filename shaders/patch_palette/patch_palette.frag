#version 450
// Patches with colours of their own.

layout(location = 0) in vec3 shade;

layout(location = 0) out vec4 colour;

void main() {
    colour = vec4(abs(shade), 1.0);
}
