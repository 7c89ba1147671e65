#version 450
// The resolve after measuring: the average brightness lies in a storage buffer that an earlier pass
// wrote and that anybody may still write, so nothing that comes from it may be read again later.

layout(location = 0) in vec2 inPosition;
layout(location = 1) in vec2 inUv;

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
    vec4 curve;             // x: toe, y: shoulder, z: speed, w: gain
    float compensation;
    float lowest;
    float highest;
    float time;
} exposure;

layout(location = 0) out vec2 vUv;
layout(location = 1) out float vAverage;            // storage buffer, handed through
layout(location = 1, component = 1) out float vExposure;      // storage buffer with uniforms
layout(location = 1, component = 2) out float vCompensation;  // uniform, handed through
layout(location = 2) out vec4 vMeasuredTint;        // storage buffer
layout(location = 3) out vec4 vWhitePoint;          // uniform
layout(location = 4) flat out uvec2 vCounters;      // storage buffer
layout(location = 5) out vec2 vRange;               // uniform expression
layout(location = 5, component = 2) out float vMiddle;   // an element of the histogram
layout(location = 6) out vec4 vCurve;               // one constant, one uniform, two expressions

float exposed(float average)
{
    float wanted = 0.18 / max(average, 0.05);
    return clamp(wanted * exp2(exposure.compensation * 0.5), 0.2, 2.0 + exposure.highest);
}

void main()
{
    vUv = inUv;
    vAverage = measured.average;
    vExposure = exposed(measured.average);
    vCompensation = exposure.compensation;
    vMeasuredTint = measured.tint;
    vWhitePoint = exposure.whitePoint;
    vCounters = uvec2(measured.samples, measured.frame);
    vRange = vec2(min(exposure.lowest, exposure.highest), max(exposure.lowest, exposure.highest));
    vMiddle = measured.histogram[7];
    vCurve = vec4(0.22, exposure.curve.y, exposure.curve.x * 0.5, 1.0 - 0.5 * exposure.curve.w);
    gl_Position = vec4(inPosition, 0.5, 1.0);
}
