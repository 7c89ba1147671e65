#version 450
// Colour along the strand; thickness is the same for the draw.
layout(location = 0) in vec3 eColor;
layout(location = 1) in float eStiffness;
layout(location = 2) in float eThickness;
layout(location = 0) out vec4 color;
void main() { color = vec4(eColor + eStiffness * 0.25, eThickness); }
