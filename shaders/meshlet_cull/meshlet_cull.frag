#version 450
// The sphere's colour; the corner is for a wireframe that is off.
#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec4 mSphere;
layout(location = 1) flat in uvec2 mNumber;
layout(location = 2) perprimitiveEXT flat in uint mFlags;
layout(location = 0) out vec4 color;
layout(location = 1) out uvec2 number;
void main() {
    color = mFlags == 0u ? mSphere : mSphere.wzyx;
    number = mNumber;
}
