#version 450
// Picks by age.
layout(location = 0) in vec4 gTints[2];
layout(location = 2) in float gAges[3];
layout(location = 0) out vec4 color;
void main() { color = gTints[0] * gAges[0] + gTints[1] * gAges[1] + gAges[2]; }
