#version 450
// The rocks by day: no snow, no debug view.
#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec4 mStone;
layout(location = 1) in vec4 mSnow;
layout(location = 2) in vec3 mDebugNormal;
layout(location = 3) in float mFade;
layout(location = 4) perprimitiveEXT flat in uint mRock;
layout(location = 5) perprimitiveEXT flat in uint mTile;
layout(location = 0) out vec4 color;
layout(location = 1) out uint id;
void main() {
    color = vec4(mStone.rgb * mFade, mFade);
    id = mTile * 8u + mRock;
}
