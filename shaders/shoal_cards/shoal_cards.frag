#version 450
// Scales, flank and belly in the water's colour.
#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec2 mUv;
layout(location = 1) in vec4 mScales;
layout(location = 2) flat in uvec2 mSchool;
layout(location = 3) in vec4 mWater;
layout(location = 4) flat in vec4 mFlank;
layout(location = 5) perprimitiveEXT in vec3 mBelly;
layout(location = 0) out vec4 color;
void main() {
    float spot = float((mSchool.x * 5u + mSchool.y) % 8u) / 8.0;
    vec4 fish = mix(mScales * mFlank, vec4(mBelly, 1.0), mUv.y * mUv.x);
    color = fish * (0.5 + spot * mUv.x) + mWater;
}
