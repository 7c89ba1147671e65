#version 450
// A tile map: tile numbers and flags are integers and travel flat, several of them never read.

layout(location = 0) in vec2 inPosition;
layout(location = 1) in vec2 inUv;
layout(location = 2) in uvec2 inTile;        // x: number, y: flags
layout(location = 3) in int inHeight;

layout(set = 0, binding = 0, std140) uniform Map {
    mat4 viewProjection;
    ivec4 animation;         // x: frame, y: frame count, zw: origin
    uvec4 palette;
    int layer;
} map;

layout(location = 0) out vec2 vUv;
layout(location = 1) flat out uint vTile;
layout(location = 2) flat out uvec4 vFlags;      // flip, turn, kind, wet
layout(location = 3) flat out ivec3 vCell;
layout(location = 4) flat out int vFrame;
layout(location = 5) flat out uint vPalette;
layout(location = 6) flat out int vHeight;

void main()
{
    uint flags = inTile.y;
    vUv = inUv * 0.5 + 0.5;
    vTile = inTile.x & 255u;
    vFlags = uvec4(flags & 1u, (flags >> 1) & 3u, (flags >> 3) & 7u, (flags >> 6) & 1u);
    vCell = ivec3(ivec2(floor(inPosition * 8.0)) + map.animation.zw, map.layer);
    int frames = max(map.animation.y, 1);
    vFrame = abs(map.animation.x) % frames;
    vPalette = map.palette[inTile.x & 3u];
    vHeight = clamp(inHeight, -8, 8);
    vec4 clip = map.viewProjection * vec4(inPosition, 0.0, 1.0);
    gl_Position = vec4(clip.xy, 0.5 * clip.w, clip.w);
}
