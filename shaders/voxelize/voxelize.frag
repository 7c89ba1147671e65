#version 450
// Writes the voxel's word.
layout(location = 0) in vec3 gWorld;
layout(location = 1) in vec2 gUv;
layout(location = 2) flat in ivec2 gAxisMaterial;
layout(location = 3) flat in vec4 gBox;
layout(location = 4) in vec3 gLight;
layout(location = 5) flat in int gAxisAgain;
layout(location = 0) out uvec4 voxel;
void main() {
    uvec3 cell = uvec3(clamp(gWorld, 0.0, 1.0) * 63.0);
    uint inside = all(greaterThanEqual(gWorld.xy, gBox.xy - 0.5)) ? 1u : 0u;
    uint light = uint(gLight.x * 10.0);
    uint word = cell.x | cell.y << 8u | cell.z << 16u;
    uint kind = uint(gAxisMaterial.x * 4 + gAxisMaterial.y);
    voxel = uvec4(word, kind, inside + uint(gUv.x * 8.0 + 16.0), light + uint(gAxisAgain));
}
