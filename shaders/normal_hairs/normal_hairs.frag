#version 450
// Fades along the line.
layout(location = 0) in vec3 gColor;
layout(location = 1) in float gAlong;
layout(location = 0) out vec4 color;
void main() { color = vec4(gColor * (1.0 - gAlong * 0.5), gAlong); }
