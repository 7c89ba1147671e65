#version 450
// Applies the measured exposure. It reads the same storage buffer and the same uniforms itself.

layout(location = 0) in vec2 vUv;
layout(location = 1) in float vAverage;
layout(location = 1, component = 1) in float vExposure;
layout(location = 1, component = 2) in float vCompensation;
layout(location = 2) in vec4 vMeasuredTint;
layout(location = 3) in vec4 vWhitePoint;
layout(location = 4) flat in uvec2 vCounters;
layout(location = 5) in vec2 vRange;
layout(location = 5, component = 2) in float vMiddle;
layout(location = 6) in vec4 vCurve;

layout(set = 0, binding = 0, std430) readonly buffer Measured {
    vec4 tint;
    float average;
    float brightest;
    uint samples;
    uint frame;
    float histogram[16];
} measured;

layout(set = 0, binding = 1, std140) uniform Exposure {
    vec4 whitePoint;
    vec4 curve;
    float compensation;
    float lowest;
    float highest;
    float time;
} exposure;

layout(set = 0, binding = 2) uniform sampler2D scene;

layout(location = 0) out vec4 outColor;

vec3 curved(vec3 color)
{
    vec3 toe = color * (color + vCurve.x) + abs(vCurve.z);
    vec3 shoulder = color * (color + abs(vCurve.y)) + abs(vCurve.w) + 0.2;
    return clamp(toe / max(shoulder, 0.1), 0.0, 1.0);
}

// The measured distribution along the lower edge, as a debug bar.
float bar(vec2 uv)
{
    int bin = clamp(int(fract(uv.x) * 16.0), 0, 15);
    return step(fract(uv.y), 0.2 * clamp(measured.histogram[bin], 0.0, 1.0));
}

void main()
{
    vec3 color = texture(scene, vUv).rgb * vExposure * exp2(0.2 * vCompensation);
    color = color / max(abs(vWhitePoint.rgb * vWhitePoint.w), 0.3);
    color = mix(vec3(vAverage), color, clamp(0.7 + 0.3 * vRange.y - 0.1 * vRange.x, 0.0, 1.0));
    color = curved(color * (0.8 + 0.2 * vMeasuredTint.rgb * vMeasuredTint.w));
    float dither = float((vCounters.x ^ vCounters.y) & 3u) / 255.0;
    float shown = bar(vUv) * (0.3 + 0.3 * vMiddle);
    outColor = vec4(mix(color + dither, vec3(0.9, 0.8, 0.2), shown), 1.0);
    outColor.a -= 0.1 * clamp(measured.brightest * exposure.curve.z, 0.0, 1.0);
}
