#version 450
// Material by primitive; the sun is the draw's.
#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec3 mNormal;
layout(location = 1) in vec2 mUv;
layout(location = 2) in vec4 mSun;
layout(location = 4) perprimitiveEXT flat in uint mMaterial;
layout(location = 5) perprimitiveEXT in vec4 mTint;
layout(location = 6) perprimitiveEXT flat in uint mMaterialAgain;
layout(location = 0) out vec4 color;
layout(location = 1) out uvec2 material;
void main() {
    color = mTint * (0.5 + 0.5 * abs(mNormal.z)) * mSun + vec4(mUv, 0.0, 0.0);
    material = uvec2(mMaterial, mMaterialAgain * 2u);
}
