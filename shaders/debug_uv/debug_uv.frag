#version 450
// Debug view: texture coordinates as a checker; the second set shows where the flag asks for it.

layout(location = 3) in vec4 vUv;
layout(location = 7) flat in ivec2 vIds;

layout(location = 0) out vec4 outColor;

float checker(vec2 uv, float count)
{
    ivec2 cell = ivec2(floor(uv * count));
    return float((cell.x ^ cell.y) & 1);
}

vec3 ramp(float t)
{
    t = clamp(t, 0.0, 1.0);
    return clamp(vec3(2.0 * t - 0.5, 1.0 - abs(2.0 * t - 1.0), 1.2 - 2.0 * t), 0.0, 1.0);
}

void main()
{
    vec2 uv = (vIds.y & 2) != 0 ? vUv.zw : vUv.xy;
    vec2 density = fwidth(uv) * 256.0;
    vec3 tiles = mix(vec3(0.25), vec3(0.8), checker(uv, 8.0));
    tiles *= mix(0.8, 1.0, checker(uv, 64.0));
    tiles.rg *= 0.5 + 0.5 * fract(uv);
    vec3 heat = ramp(log2(max(max(density.x, density.y), 1e-3)) * 0.125 + 0.5);
    outColor = vec4(mix(tiles, heat, 0.35), 1.0);
}
