#version 450
// Corner and cell are only ever used together: (cell + corner) times the size of a cell, twice.

layout(location = 0) in vec2 vCorner;
layout(location = 0, component = 2) in vec2 vCell;
layout(location = 1) in vec2 vNextCell;
layout(location = 2) in vec4 vTint;

layout(set = 0, binding = 0, std140) uniform Atlas {
    mat4 viewProjection;
    vec4 cellSize;
    vec4 lamp;
    float shrink;
} atlas;

layout(set = 0, binding = 1) uniform sampler2D cards;

layout(location = 0) out vec4 outColor;

vec2 inAtlas(vec2 cell)
{
    vec2 inner = (vCorner - 0.5) * (1.0 - 0.1 * atlas.shrink) + 0.5;
    return (cell + inner) * atlas.cellSize.xy * 0.25 + 0.01 * atlas.cellSize.zw;
}

void main()
{
    vec4 now = texture(cards, inAtlas(vCell));
    vec4 next = texture(cards, inAtlas(vNextCell));
    float light = 0.25 + 0.75 * dot(vTint.rgb, abs(atlas.lamp.rgb)) / (1.0 + vTint.a);
    vec4 shown = mix(now, next, 0.25 + 0.5 * abs(atlas.lamp.a) / (1.0 + abs(atlas.lamp.a)));
    outColor = vec4(shown.rgb * light, clamp(shown.a, 0.0, 1.0));
}
