#version 450
// Level, fade and seed show.
#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec2 mUv;
layout(location = 1) in vec4 mTint;
layout(location = 2) flat in uint mLevel;
layout(location = 3) in float mFade;
layout(location = 4) perprimitiveEXT flat in uint mSeed;
layout(location = 0) out vec4 color;
void main() { color = mTint + vec4(mUv, mFade, float(mLevel) + float(mSeed & 3u)); }
