#version 450
// Velvet over bark.
layout(location = 0) in vec4 eColor;
layout(location = 1) in float eShade;
layout(location = 0) out vec4 color;
void main() { color = eColor * eShade; }
