#version 450
// Picks the texel of a tile by integer arithmetic, then a look by the tile's kind.

layout(set = 0, binding = 1) uniform sampler2D atlas;

layout(location = 0) in vec2 vUv;
layout(location = 1) flat in uint vTile;
layout(location = 2) flat in uvec4 vFlags;
layout(location = 4) flat in int vFrame;
layout(location = 5) flat in uint vPalette;
layout(location = 6) flat in int vHeight;

layout(location = 0) out vec4 outColor;
layout(location = 1) out uvec2 outIds;

vec2 oriented(vec2 uv)
{
    if (vFlags.x != 0u)
        uv.x = 1.0 - uv.x;
    switch (vFlags.y) {
    case 1u:
        return vec2(uv.y, 1.0 - uv.x);
    case 2u:
        return 1.0 - uv;
    case 3u:
        return vec2(1.0 - uv.y, uv.x);
    }
    return uv;
}

vec3 fromPalette(uint packed)
{
    return vec3(uvec3(packed, packed >> 2, packed >> 4) & 3u) / 3.0;
}

void main()
{
    uint tile = vTile + uint(vFrame & 3);
    ivec2 size = textureSize(atlas, 0);
    ivec2 texel = ivec2(fract(oriented(vUv)) * 8.0) + ivec2(tile & 7u, (tile >> 3) & 7u) * 8;
    vec4 color = texelFetch(atlas, clamp(texel, ivec2(0), size - 1), 0);
    switch (vFlags.z) {
    case 0u:
        break;
    case 1u:
    case 2u:
        color.rgb *= vec3(0.6, 0.8, 1.0);
        break;
    case 3u:
        color.rgb = color.gbr;
        // falls through: kind 3 is also darkened
    case 4u:
        color.rgb *= 0.7;
        break;
    default:
        color.rgb = mix(color.rgb, fromPalette(vPalette), 0.5);
        break;
    }
    color.rgb *= 1.0 + 0.05 * float(vHeight);
    outColor = vec4(color.rgb, 1.0);
    outIds = uvec2(tile, uint(vHeight + 8));
}
