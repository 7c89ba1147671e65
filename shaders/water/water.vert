#version 450
// Water surface: a sum of directed waves, two scrolling ripple sets, coordinates for both mirrors.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec2 inUv;
layout(location = 2) in vec4 inFlow;

layout(set = 0, binding = 0, std140) uniform Water {
    mat4 viewProjection;
    mat4 mirrorViewProjection;
    vec4 waves[4];        // xy: direction, z: frequency, w: height
    vec4 eye;
    vec4 shallow;
    vec4 deep;
    float time;
    float foam;
} water;

layout(location = 0) out vec3 vPosition;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec4 vRipples;      // two scrolling uv sets
layout(location = 3) out vec4 vScreen;
layout(location = 4) out vec4 vMirror;
layout(location = 5) out vec3 vToEye;
layout(location = 6) out vec4 vFlow;
layout(location = 7) out float vCrest;
layout(location = 8) out vec4 vShallow;
layout(location = 9) out vec4 vDeep;

void wave(vec4 w, vec2 p, inout vec3 offset, inout vec2 slope)
{
    vec2 direction = w.xy / max(length(w.xy), 0.1);
    float frequency = 4.0 + 3.0 * abs(w.z);
    float phase = dot(direction, p) * frequency + water.time * 3.0;
    float height = 0.03 * (0.5 + abs(w.w));
    offset += vec3(direction * cos(phase), sin(phase)) * height;
    slope += direction * (frequency * height * cos(phase));
}

void main()
{
    vec3 offset = vec3(0.0);
    vec2 slope = vec2(0.0);
    for (int i = 0; i < 4; ++i)
        wave(water.waves[i], inPosition.xy, offset, slope);
    vec3 position = inPosition + offset;
    vec4 clip = water.viewProjection * vec4(position, 1.0);
    vec4 mirror = water.mirrorViewProjection * vec4(position * vec3(1.0, 1.0, -1.0), 1.0);

    vPosition = position;
    vNormal = normalize(vec3(-slope, 1.0));
    vRipples.xy = inUv * 2.0 + vec2(water.time * 0.1, 0.0);
    vRipples.zw = inUv * 3.1 - vec2(0.0, water.time * 0.13);
    vScreen = vec4(clip.xy * 0.5 + 0.5 * clip.w, clip.zw);
    vMirror = vec4(mirror.xy * 0.5 + 0.5 * mirror.w, mirror.zw);
    vToEye = water.eye.xyz + vec3(0.0, 0.0, 2.0) - position;
    vFlow = inFlow;
    vCrest = offset.z * 10.0;
    vShallow = vec4(abs(water.shallow.rgb) * 0.5 + vec3(0.1, 0.35, 0.35), 0.6);
    vDeep = vec4(abs(water.deep.rgb) * 0.2 + vec3(0.0, 0.05, 0.15), 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
