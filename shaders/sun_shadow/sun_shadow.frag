#version 450
// Orthographic sun: the shadow coordinate is made per pixel out of position and offset, which serve
// nothing else, with a bias matrix and a scrolled cloud shadow on top of it.

layout(location = 0) in vec3 vWorld;
layout(location = 1) in vec3 vOffset;
layout(location = 2) in vec2 vUv;

layout(set = 0, binding = 0, std140) uniform Sun {
    mat4 viewProjection;
    mat4 shadowFromWorld;
    mat4 shadowBias;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 cloudScroll;
    float normalOffset;
} sun;

layout(set = 0, binding = 1) uniform sampler2D albedoMap;
layout(set = 0, binding = 2) uniform sampler2D shadowMap;
layout(set = 0, binding = 3) uniform sampler2D cloudMap;

layout(location = 0) out vec4 outColor;

vec3 shadowCoordinate(vec3 world)
{
    vec4 light = sun.shadowFromWorld * vec4(world, 1.0);
    return (sun.shadowBias * light).xyz;
}

// Soft comparison: how far the stored depth lies in front of the receiver.
float lit(vec2 at, float depth)
{
    float stored = texture(shadowMap, at).r;
    return smoothstep(-0.3, 0.3, stored - depth);
}

void main()
{
    vec3 coordinate = shadowCoordinate(vWorld + vOffset);
    float shadow = 0.0;
    for (int i = 0; i < 4; ++i) {
        vec2 tap = vec2(float(i & 1) - 0.5, float(i >> 1) - 0.5) * 0.02;
        shadow += 0.25 * lit(coordinate.xy + tap, coordinate.z);
    }
    vec2 clouds = coordinate.xy * sun.cloudScroll.zw + sun.cloudScroll.xy;
    shadow *= 0.5 + 0.5 * texture(cloudMap, clouds).g;
    vec3 albedo = texture(albedoMap, vUv).rgb;
    outColor = vec4(albedo * (0.15 + abs(sun.sunColor.rgb) * shadow), 1.0);
}
