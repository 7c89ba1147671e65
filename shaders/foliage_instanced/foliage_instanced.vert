#version 450
// Instanced grass and leaves: per-instance transform and wind, colour by season.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;
layout(location = 3) in vec4 inInstance;     // xyz: offset, w: turn
layout(location = 4) in vec4 inVariation;    // x: scale, y: stiffness, z: dryness, w: phase

layout(set = 0, binding = 0, std140) uniform Foliage {
    mat4 viewProjection;
    vec4 wind;           // xyz: direction, w: strength
    vec4 sun;
    vec4 eye;
    vec4 summer;
    vec4 autumn;
    float time;
    float fadeStart;
} foliage;

layout(location = 0) out vec3 vPosition;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec2 vUv;
layout(location = 3) out vec4 vSeason;
layout(location = 4) out float vFade;
layout(location = 5) out vec3 vSun;
layout(location = 6) out vec3 vView;
layout(location = 7) out vec4 vGroundTint;
layout(location = 8) flat out int vInstance;

vec3 turned(vec3 p, float angle)
{
    float c = cos(angle);
    float s = sin(angle);
    return vec3(c * p.x - s * p.y, s * p.x + c * p.y, p.z);
}

vec3 swayed(vec3 p, float bend)
{
    float phase = foliage.time * 2.0 + inVariation.w * 6.0 + dot(p.xy, vec2(1.3, 0.7));
    vec3 direction = foliage.wind.xyz * (0.5 + 0.5 * abs(foliage.wind.w));
    return p + direction * (0.1 * bend * (sin(phase) + 0.3 * sin(phase * 2.7)));
}

void main()
{
    float angle = inInstance.w * 3.14159265;
    float scale = 0.8 + 0.2 * inVariation.x;
    vec3 local = turned(inPosition * scale, angle);
    float bend = clamp(inPosition.y * 0.5 + 0.5, 0.0, 1.0) * (1.0 - 0.5 * abs(inVariation.y));
    vec3 offset = inInstance.xyz * 0.2 + vec3(float(gl_InstanceIndex & 3) * 0.1, 0.0, 0.0);
    vec3 world = swayed(local + offset, bend);

    vPosition = world;
    vNormal = turned(inNormal, angle);
    vUv = inUv * 0.5 + 0.5;
    vec3 fresh = vec3(0.2, 0.5, 0.1) + 0.1 * foliage.summer.rgb;
    vec3 dry = vec3(0.6, 0.4, 0.1) + 0.1 * foliage.autumn.rgb;
    vSeason = vec4(mix(fresh, dry, clamp(inVariation.z, 0.0, 1.0)), bend);
    vFade = clamp(1.2 - length(world - foliage.eye.xyz) * 0.2, 0.2, 1.0);
    vSun = foliage.sun.xyz + vec3(0.0, 0.5, 1.0);
    vView = foliage.eye.xyz + vec3(0.0, 0.0, 2.0) - world;
    vGroundTint = vec4(0.3, 0.25, 0.2, 1.0);
    vInstance = gl_InstanceIndex;
    vec4 clip = foliage.viewProjection * vec4(world, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
