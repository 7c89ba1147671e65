#version 450
// Hot air over a runway: the base coordinate and two drifting offsets.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec2 inUv;
layout(location = 2) in vec2 inRise;
layout(location = 3) in vec2 inGust;
layout(location = 4) in float inHeat;

layout(push_constant) uniform Air {
    vec4 drift;         // xy: rise, zw: gust
    vec4 tint;
    float time;
    float strength;
} air;

layout(location = 0) out vec2 vUv;
layout(location = 0, component = 2) out vec2 vRise;
layout(location = 1) out vec2 vGust;
layout(location = 1, component = 2) out float vHeat;

void main()
{
    vUv = inUv;
    vRise = inRise * air.drift.xy;
    vGust = inGust * air.drift.zw;
    vHeat = clamp(inHeat, 0.0, 1.0);
    gl_Position = vec4(inPosition.xy, 0.5 * inPosition.z + 0.25, 1.0);
}
