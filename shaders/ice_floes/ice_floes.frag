#version 450
// The ice alone: shadows are drawn with the water.
#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec3 mTint;
layout(location = 1) in vec2 mShadow;
layout(location = 2) in vec3 mShadowTint;
layout(location = 3) perprimitiveEXT flat in uint mNumber;
layout(location = 4) perprimitiveEXT flat in vec2 mMooring;
layout(location = 0) out vec4 color;
void main() { color = vec4(mTint, float(mNumber) * 0.0625 + mMooring.x); }
