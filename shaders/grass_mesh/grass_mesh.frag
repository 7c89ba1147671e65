#version 450
// Darker at the root.
layout(location = 0) in vec4 mColor;
layout(location = 1) in float mHeight;
layout(location = 2) in vec4 mDry;
layout(location = 4) in float mHeightAgain;
layout(location = 0) out vec4 color;
void main() { color = mColor * (0.4 + 0.6 * mHeight) + mDry * 0.1 + mHeightAgain * 0.05; }
