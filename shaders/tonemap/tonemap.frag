#version 450
// Exposure, bloom, filmic curve, grading by a volume, vignette and grain.

layout(set = 0, binding = 0, std140) uniform Post {
    vec4 screen;
    vec4 grading;
    vec4 vignette;
    float exposure;
    float bloom;
    float time;
    int mode;
} post;
layout(set = 0, binding = 1) uniform sampler2D scene;
layout(set = 0, binding = 2) uniform sampler2D bloomMap;
layout(set = 0, binding = 3) uniform sampler3D gradingVolume;
layout(set = 0, binding = 4) uniform sampler2D noise;

layout(location = 0) in vec2 vUv;
layout(location = 6) flat in float vExposure;
layout(location = 7) in vec2 vCentered;
layout(location = 8) in vec4 vNoiseUv;

layout(location = 0) out vec4 outColor;

vec3 filmic(vec3 x)
{
    vec3 top = x * (2.3 * x + 0.05);
    vec3 bottom = x * (2.2 * x + 0.6) + 0.15;
    return clamp(top / bottom, 0.0, 1.0);
}

vec3 rational(vec3 x)
{
    return x / (1.0 + x);
}

vec3 curve(vec3 x)
{
    switch (post.mode & 3) {
    case 0:
        return filmic(x);
    case 1:
        return rational(x);
    case 2:
        return clamp(x, 0.0, 1.0);
    default:
        break;
    }
    float luma = dot(x, vec3(0.21, 0.72, 0.07));
    return x * (rational(vec3(luma)).x / max(luma, 1e-3));
}

void main()
{
    vec3 color = texture(scene, vUv).rgb;
    color += texture(bloomMap, vUv).rgb * 0.3 * abs(post.bloom);
    color = curve(max(color * vExposure, 0.0));
    vec3 graded = texture(gradingVolume, color * 0.9 + 0.05).rgb;
    color = mix(color, graded, 0.25 + 0.25 * clamp(post.grading.x, 0.0, 1.0));
    float corner = dot(vCentered, vCentered);
    color *= 1.0 - corner * (0.5 + 0.5 * abs(post.vignette.x));
    float grain = texture(noise, vNoiseUv.xy).r - 0.5;
    outColor = vec4(color + grain * 0.03, 1.0);
}
