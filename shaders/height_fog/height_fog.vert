#version 450
// Surfaces in height fog: the frame's fog, sun and exposure travel as varyings although the
// fragment shader declares the very same block and reads some of it itself.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Frame {
    mat4 viewProjection;
    mat4 windowFromWorld;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 fogColor;
    vec4 fogDensity;        // x: at the ground, y: falloff, z: start, w: most
    vec4 fogHeight;         // x: ground, y: top
    float time;
    float exposure;
} frame;

layout(location = 0) out vec3 vWorld;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec2 vUv;
layout(location = 3) out vec4 vFogColor;            // handed through
layout(location = 4) out vec4 vFogDensity;          // handed through
layout(location = 5) out vec2 vFogHeight;           // .xy of a vec4
layout(location = 5, component = 2) out float vExposure;
layout(location = 6) out vec3 vSunDirection;        // normalized
layout(location = 6, component = 3) out float vPulse;
layout(location = 7) out vec3 vSunColor;            // scaled by a pulse and by the exposure
layout(location = 8) out vec3 vWindowAxis;          // matrix * constant

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

float pulse(float time)
{
    return 0.75 + 0.25 * sin(time * 6.0);
}

void main()
{
    vec3 world = inPosition;
    vWorld = world;
    vNormal = unit(inNormal + vec3(0.0, 0.0, 1.5));
    vUv = inUv;
    vFogColor = frame.fogColor;
    vFogDensity = frame.fogDensity;
    vFogHeight = frame.fogHeight.xy;
    vExposure = frame.exposure;
    vSunDirection = normalize(frame.sunDirection.xyz + vec3(0.0, 0.0, 1.5));
    vPulse = pulse(frame.time);
    vSunColor = frame.sunColor.rgb * pulse(frame.time) * (0.5 + frame.exposure);
    vWindowAxis = (frame.windowFromWorld * vec4(0.0, 1.0, 0.0, 0.0)).xyz;
    vec4 clip = frame.viewProjection * vec4(world, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
