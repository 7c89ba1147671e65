#version 450
// Strand numbers pick the tone.
layout(location = 0) in vec4 mColor;
layout(location = 1) flat in int mStrand;
layout(location = 2) in float mAlong;
layout(location = 3) in vec4 mHead;
layout(location = 0) out vec4 color;
void main() { color = mColor + mHead * (1.0 - mAlong) + float(mStrand % 5) * 0.1; }
