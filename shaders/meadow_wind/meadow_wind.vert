#version 450
// Grass blades: bend, gust and stiffness; for each blade a few flat numbers made of two.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec2 inUv;
layout(location = 2) in float inStiffness;
layout(location = 3) in float inPhase;
layout(location = 4) in vec4 inGround;

layout(set = 0, binding = 0, std140) uniform Wind {
    mat4 viewProjection;
    vec4 tipColor;
    vec4 rootColor;
    vec4 gust;          // xy: direction, z: strength, w: swell
    float time;
} wind;

layout(location = 0) out vec2 vUv;
layout(location = 0, component = 2) out float vBend;
layout(location = 0, component = 3) out float vRest;            // -2 * bend
layout(location = 1) flat out vec4 vBlade;      // phase, stiffness, 1 - stiffness, phase * strength
layout(location = 2) flat out ivec3 vVariant;   // number, its parity, its bank
layout(location = 3) out vec3 vGround;

void main()
{
    float stiffness = clamp(inStiffness, 0.0, 1.0);
    float sway = sin(wind.time * 3.0 + inPhase * 6.0) * wind.gust.z;
    float bend = sway * (1.0 - stiffness) * clamp(inUv.y, 0.0, 1.0);
    int number = int(clamp(inPhase * 8.0 + 8.0, 0.0, 15.0));
    vUv = inUv;
    vBend = bend;
    vRest = bend * -2.0;
    vBlade = vec4(inPhase, stiffness, 1.0 - stiffness, inPhase * wind.gust.z);
    vVariant = ivec3(number, number & 1, number >> 2);
    vGround = abs(inGround.rgb);
    vec3 position = inPosition + vec3(wind.gust.xy * bend * 0.1, 0.0);
    vec4 clip = wind.viewProjection * vec4(position, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
