#version 450
// The fog chain: distance and height become one thickness, both lights one exposed sum.

layout(location = 0) in vec3 vDirect;
layout(location = 1) in vec3 vSky;
layout(location = 2) in vec2 vUv;
layout(location = 2, component = 2) in float vDepth;
layout(location = 2, component = 3) in float vHeight;

layout(set = 0, binding = 0, std140) uniform Frame {
    mat4 viewProjection;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 skyColor;
    vec4 mistColor;
    vec4 mist;
    float exposure;
    float whitePoint;
} frame;

layout(set = 0, binding = 1) uniform sampler2D plankMap;

layout(location = 0) out vec4 outColor;

float thickness()
{
    float range = max(abs(frame.mist.y - frame.mist.x), 0.1);
    float far = (vDepth - frame.mist.x) / range;
    float low = (frame.mist.w - vHeight) * 0.5;
    return (far + low) * frame.mist.z;
}

void main()
{
    vec3 light = vDirect * 0.8 + vSky * 0.5 + 0.05 * frame.skyColor.rgb;
    light *= 0.5 + frame.exposure;
    vec3 lit = texture(plankMap, vUv).rgb * light;
    float mist = 1.0 - exp(-max(thickness(), 0.0));
    vec3 color = mix(lit, abs(frame.mistColor.rgb) * (0.5 + frame.exposure), mist);
    outColor = vec4(color / (color + 0.5 + abs(frame.whitePoint)), 1.0);
}
