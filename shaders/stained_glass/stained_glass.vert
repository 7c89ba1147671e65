#version 450
// Glass panes: what the vertex shader reads at set 0, binding 0 is the scene's. The fragment shader
// has the material's at set 1, binding 0, of the very same shape.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 skyColor;
    vec4 glassTint;
    vec4 sunDirection;
    float strength;
    int panes;
} scene;

// The fragment shader has this one too, at the same place.
layout(set = 0, binding = 1, std140) uniform Clock {
    vec4 seconds;           // x: now, y: since the last frame, z: sunset
    vec4 dusk;
} clock;

layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out vec4 vSkyColor;            // of set 0, binding 0
layout(location = 3) out vec3 vGlassTint;           // of set 0, binding 0
layout(location = 3, component = 3) out float vStrength;
layout(location = 4) flat out int vPanes;
layout(location = 5) out vec4 vDusk;                // of set 0, binding 1
layout(location = 6) out float vEvening;            // expression over binding 1
layout(location = 7) out vec3 vSunset;              // expression over bindings 0 and 1
layout(location = 8) out vec3 vSun;

float evening(vec4 seconds)
{
    return smoothstep(0.0, 1.0, clamp(seconds.x / max(seconds.z, 0.1), 0.0, 1.0));
}

void main()
{
    vNormal = inNormal;
    vUv = inUv;
    vSkyColor = scene.skyColor;
    vGlassTint = scene.glassTint.rgb;
    vStrength = scene.strength;
    vPanes = scene.panes + 2;
    vDusk = clock.dusk;
    vEvening = evening(clock.seconds);
    vSunset = mix(scene.skyColor.rgb, clock.dusk.rgb, evening(clock.seconds));
    vSun = normalize(scene.sunDirection.xyz + vec3(0.0, 0.0, 1.5));
    vec4 clip = scene.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
