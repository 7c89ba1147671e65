#version 450
// All three coordinates meet in one sum before the noise is read; the noise then bends the scene,
// and there the heat, a factor of a texture, is where it must be. The scene is read at the uv too,
// so four of the six numbers are enough.

layout(location = 0) in vec2 vUv;
layout(location = 0, component = 2) in vec2 vRise;
layout(location = 1) in vec2 vGust;
layout(location = 1, component = 2) in float vHeat;

layout(push_constant) uniform Air {
    vec4 drift;
    vec4 tint;
    float time;
    float strength;
} air;

layout(set = 0, binding = 0) uniform sampler2D noise;
layout(set = 0, binding = 1) uniform sampler2D scene;

layout(location = 0) out vec4 outColor;

void main()
{
    vec2 offset = vRise * air.time + vGust * (air.strength - 0.25);
    vec2 bend = texture(noise, vUv * 0.5 + offset).xy - 0.5;
    vec2 at = vUv + bend * vHeat * 0.1;
    vec3 color = texture(scene, at).rgb;
    color = mix(color, abs(air.tint.rgb), 0.2 * vHeat);
    outColor = vec4(color, 1.0);
}
