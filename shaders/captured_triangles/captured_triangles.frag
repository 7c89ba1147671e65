#version 450
// Reads the uncaptured uv and the twin of the captured colour.
layout(location = 0) in vec4 gColor;
layout(location = 2) in vec2 gUv;
layout(location = 5) in vec4 gColorAgain;
layout(location = 0) out vec4 color;
void main() { color = gColor * 0.5 + gColorAgain.zwxy + vec4(gUv, 0.0, 0.0); }
