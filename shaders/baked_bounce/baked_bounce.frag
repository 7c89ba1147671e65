#version 450
// Two sums over the same three parts, one plain and one tinted: two vectors are enough.

layout(location = 0) in vec3 vBounce;
layout(location = 1) in vec3 vSky;
layout(location = 2) in vec3 vLamps;
layout(location = 3) in vec2 vUv;

layout(set = 0, binding = 0, std140) uniform Hour {
    mat4 viewProjection;
    vec4 skyTint;
    vec4 lampTint;
} hour;

layout(set = 0, binding = 1) uniform sampler2D stoneMap;

layout(location = 0) out vec4 outColor;

void main()
{
    vec3 total = vBounce + vSky + vLamps;
    vec3 tinted = vBounce + vSky * hour.skyTint.rgb * 2.0 + vLamps * hour.lampTint.rgb * 3.0;
    vec3 stone = texture(stoneMap, vUv).rgb;
    float bright = max(max(total.r, total.g), total.b);
    vec3 color = stone * max(tinted, 0.0) / (1.0 + bright);
    outColor = vec4(color + 0.02 * total * total, 1.0);
}
