#version 450
// Ink.
layout(location = 0) in vec4 gInk;
layout(location = 1) in float gWidth;
layout(location = 2) flat in int gEdge;
layout(location = 0) out vec4 color;
void main() { color = gInk + vec4(gWidth, 0.0, float(gEdge), 0.0); }
