#version 450
// Sums four lights of the array by constant index; of the heights it takes two.

layout(set = 0, binding = 1) uniform sampler2D baseMap;

layout(location = 0) in vec2 vUv;
layout(location = 1) in vec4 vLights[6];
layout(location = 7) in float vHeights[3];

layout(location = 0) out vec4 outColor;

vec3 halo(vec4 light, vec3 base)
{
    float near = exp(-4.0 * max(light.a - 0.2, 0.0));
    return light.rgb * base + light.rgb * near * 0.5;
}

void main()
{
    vec3 base = texture(baseMap, vUv).rgb * 0.7 + 0.3;
    vec3 color = base * 0.08;
    color += halo(vLights[0], base);
    color += halo(vLights[1], base);
    color += vLights[3].rgb * base;
    color += vLights[4].rgb * base;
    float ground = smoothstep(-1.0, 0.5, vHeights[0]) * vHeights[2];
    outColor = vec4(color * (0.5 + 0.5 * ground), 1.0);
}
