#version 450
// Six sets of coordinates that are one: base, detail, macro, lightmap, vignette, clouds.

layout(location = 0) in vec2 vUv;
layout(location = 1) in vec2 vDetailUv;
layout(location = 2) in vec2 vMacroUv;
layout(location = 3) in vec2 vFlippedUv;
layout(location = 4) in vec2 vCenteredUv;
layout(location = 5) in vec2 vScrolledUv;

layout(set = 0, binding = 0, std140) uniform Tiling {
    mat4 viewProjection;
    vec4 detail;
    vec4 macro;
    float time;
} tiling;

layout(set = 0, binding = 1) uniform sampler2D baseMap;
layout(set = 0, binding = 2) uniform sampler2D detailMap;
layout(set = 0, binding = 3) uniform sampler2D lightMap;

layout(location = 0) out vec4 outColor;

void main()
{
    vec3 base = texture(baseMap, vUv).rgb;
    vec3 detail = texture(detailMap, vDetailUv).rgb;
    vec3 macro = texture(detailMap, vMacroUv).rgb;
    vec3 light = texture(lightMap, vFlippedUv).rgb;
    float clouds = texture(lightMap, vScrolledUv).g;
    float vignette = 1.0 / (1.0 + 0.3 * dot(vCenteredUv, vCenteredUv));
    vec3 color = base * (0.5 + detail) * (0.75 + 0.25 * macro);
    color *= light * mix(0.8, 1.2, clouds) * vignette;
    outColor = vec4(color, 0.75 + 0.25 * abs(tiling.macro.z));
}
