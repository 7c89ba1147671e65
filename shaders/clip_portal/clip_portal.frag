#version 450
// Reads the clip distance back.
in float gl_ClipDistance[1];
layout(location = 0) in vec4 gColor;
layout(location = 1) in vec4 gGlow;
layout(location = 2) in float gInside;
layout(location = 0) out vec4 color;
void main() { color = gColor + gGlow * clamp(gInside, 0.0, 1.0) + gl_ClipDistance[0]; }
