#version 450
// Tent filter over nine taps, added to the finer level.

layout(set = 0, binding = 1) uniform sampler2D coarse;
layout(set = 0, binding = 2) uniform sampler2D fine;

layout(location = 0) in vec2 vUv;
layout(location = 1) in vec4 vTaps[4];

layout(location = 0) out vec4 outColor;

layout(constant_id = 1) const float RADIUS = 1.0;

vec3 pairAt(vec4 tap)
{
    vec2 a = mix(vUv, tap.xy, RADIUS);
    vec2 b = mix(vUv, tap.zw, RADIUS);
    return textureLod(coarse, a, 0.0).rgb + textureLod(coarse, b, 0.0).rgb;
}

void main()
{
    vec3 sum = textureLod(coarse, vUv, 0.0).rgb * 4.0;
    sum += (pairAt(vTaps[0]) + pairAt(vTaps[1])) * 2.0;
    sum += pairAt(vTaps[2]) + pairAt(vTaps[3]);
    outColor = vec4(sum / 16.0 + textureLod(fine, vUv, 0.0).rgb, 1.0);
}
