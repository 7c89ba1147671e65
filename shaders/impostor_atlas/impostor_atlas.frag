#version 450
// Two frames of the atlas, blended. The bits of the tint serve as a dither seed as well.

layout(location = 0) in vec2 vUv;
layout(location = 1) in vec4 vTint;
layout(location = 2) in vec4 vFrames;
layout(location = 3) in float vAlphaCut;
layout(location = 3, component = 1) in float vTime;
layout(location = 3, component = 2) in vec2 vTexelSize;
layout(location = 4) in vec3 vVariation;
layout(location = 5) in vec4 vWindTint;

layout(set = 0, binding = 0, std140) uniform Impostor {
    layout(offset = 64) uvec4 tintBits;
    layout(offset = 80) vec4 frames;
    layout(offset = 112) float alphaCut;
    layout(offset = 116) int timeBits;
} impostor;

layout(set = 0, binding = 1) uniform sampler2D atlas;

layout(location = 0) out vec4 outColor;

vec2 frameUv(vec2 uv, float frame)
{
    float row = floor(frame / vFrames.x);
    vec2 corner = vec2(frame - row * vFrames.x, row);
    return (fract(uv) + corner) / vFrames.xy;
}

float dither()
{
    uint seed = ((impostor.tintBits.x >> 12) ^ uint(impostor.timeBits >> 14)) & 15u;
    return float(seed) / 64.0;
}

void main()
{
    float blend = clamp(0.5 * vFrames.w, 0.0, 1.0);
    float frame = clamp(vFrames.z, 0.0, 1.0) + step(0.5, fract(vTime));
    vec2 inset = vTexelSize * 0.01;
    vec4 first = textureLod(atlas, frameUv(vUv, floor(frame)) + inset, 0.0);
    vec4 second = textureLod(atlas, frameUv(vUv, floor(frame) + 1.0) + inset, 0.0);
    vec4 color = mix(first, second, blend) * vec4(vVariation, 1.0);
    if (color.a + 0.5 < vAlphaCut + 0.1 * impostor.alphaCut + dither())
        discard;
    color.rgb = color.rgb * (0.5 + 0.5 * vTint.rgb) + 0.1 * vWindTint.rgb;
    float alpha = 0.5 * vTint.a + 0.2 * vWindTint.a - vAlphaCut;
    outColor = vec4(clamp(color.rgb + 0.02 * impostor.frames.z, 0.0, 1.0), alpha);
}
