#version 450
// Ground in changing weather: varyings written on several paths, in loops, before a return, and one
// that is only written when it rains.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;
layout(location = 3) in vec4 inExposure;    // x: open sky, y: wind

layout(set = 0, binding = 0, std140) uniform Weather {
    mat4 viewProjection;
    vec4 rain;              // x: amount, w: above 1 it rains
    vec4 snowColor;
    vec4 gusts;
    float time;
    float temperature;
    int octaves;
    uint kind;
} weather;

layout(location = 0) out vec2 vUv;
layout(location = 0, component = 2) out float vDryness;      // the same constant on both paths
layout(location = 0, component = 3) out float vShelter;      // other constants, by the vertex
layout(location = 1) flat out uint vSeason;         // other constants, by a uniform
layout(location = 1, component = 1) flat out int vRaining;
layout(location = 1, component = 2) flat out uint vKind;     // by a switch over a uniform
layout(location = 2) out vec4 vSnow;                // a uniform, and a constant where sheltered
layout(location = 3) out vec3 vPuddle;              // written only when it rains
layout(location = 4) out float vGust;               // sum over a loop
layout(location = 4, component = 1) out float vLast;         // written anew by every turn
layout(location = 4, component = 2) out float vBands;        // a loop bounded by a uniform
layout(location = 5) out vec4 vIce;                 // uniform first, then partly overwritten
layout(location = 6) out vec3 vNormal;

float gustSum()
{
    float sum = 0.0;
    for (int i = 0; i < 4; ++i) {
        sum += weather.gusts[i] * sin(weather.time * float(i + 1));
        vLast = float(i) * 0.25;
    }
    return sum;
}

float bands(int octaves)
{
    float width = 1.0;
    for (int i = 0; i < clamp(octaves, 0, 6); ++i)
        width = width * 0.5 + 0.1;
    return width;
}

uint kindOf(uint kind)
{
    switch (kind) {
    case 0u:
        return 4u;
    case 1u:
        return 6u;
    default:
        return 9u;
    }
}

void main()
{
    vec4 clip = weather.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
    vUv = inUv;
    vNormal = inNormal;
    vSeason = weather.temperature > 0.5 ? 2u : 0u;
    vKind = kindOf(weather.kind);
    vGust = gustSum();
    vBands = bands(weather.octaves);
    vRaining = 0;
    if (weather.rain.w > 1.0) {
        vRaining = 1;
        vPuddle = vec3(0.1, 0.15, 0.2);
    }
    vIce = weather.snowColor;
    vIce.w = 0.75;
    vSnow = weather.snowColor;
    if (inExposure.x < 0.0) {
        vDryness = 0.3;
        vShelter = 0.9;
        vSnow = vec4(0.2, 0.2, 0.25, 1.0);
        return;
    }
    vDryness = 0.3;
    vShelter = 0.1;
    if (inExposure.y > 0.5)
        vIce.x = inExposure.y;
}
