#version 450
// A studio: an array of uniform buffers, one for each lamp, and a buffer of weaker lights. Both
// stages declare both; lamps are chosen by constant indices, a weak light by the buffer itself.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

struct Fill {
    vec4 color;
    vec3 direction;
    float spread;
};

layout(set = 0, binding = 0, std140) uniform Camera {
    mat4 viewProjection;
    vec4 eye;
} camera;

layout(set = 0, binding = 1, std140) uniform Lamp {
    vec4 color;             // w: intensity
    vec4 position;
    float temperature;
} lamps[3];

layout(set = 0, binding = 2, std140) uniform Rig {
    Fill fills[4];
    vec4 weights;
    int chosen;
    int count;
} rig;

layout(location = 0) out vec3 vWorld;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec2 vUv;
layout(location = 3) out vec4 vKeyColor;            // lamps[0]
layout(location = 4) out vec3 vRimColor;            // lamps[2], colour * intensity
layout(location = 4, component = 3) out float vTemperature;   // of lamps[1]
layout(location = 5) out vec4 vFillColor;           // fills[1]
layout(location = 6) out vec3 vFillDirection;       // fills[1], normalized
layout(location = 7) out vec3 vChosenColor;         // the fill that the buffer chooses
layout(location = 8) out vec3 vTotal;               // sum of all fills, in a loop
layout(location = 9) out vec4 vBothLamps[2];        // the two lamps again, as an array

vec3 total()
{
    vec3 sum = vec3(0.0);
    for (int i = 0; i < 4; ++i)
        sum += rig.fills[i].color.rgb * rig.weights[i];
    return sum * 0.25;
}

void main()
{
    vWorld = inPosition;
    vNormal = inNormal;
    vUv = inUv;
    vKeyColor = lamps[0].color;
    vRimColor = lamps[2].color.rgb * lamps[2].color.w;
    vTemperature = lamps[1].temperature;
    vFillColor = rig.fills[1].color;
    vFillDirection = normalize(rig.fills[1].direction + vec3(0.0, 0.0, 1.5));
    vChosenColor = rig.fills[clamp(rig.chosen, 0, 3)].color.rgb;
    vTotal = total();
    vBothLamps[0] = lamps[0].color;
    vBothLamps[1] = lamps[1].color;
    vec4 clip = camera.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
