#version 450
// Portrait light: a key, a rim, fills. It takes the places of the lamps from their buffers.

layout(location = 0) in vec3 vWorld;
layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec2 vUv;
layout(location = 3) in vec4 vKeyColor;
layout(location = 4) in vec3 vRimColor;
layout(location = 4, component = 3) in float vTemperature;
layout(location = 5) in vec4 vFillColor;
layout(location = 6) in vec3 vFillDirection;
layout(location = 7) in vec3 vChosenColor;
layout(location = 8) in vec3 vTotal;
layout(location = 9) in vec4 vBothLamps[2];

struct Fill {
    vec4 color;
    vec3 direction;
    float spread;
};

layout(set = 0, binding = 1, std140) uniform Lamp {
    vec4 color;
    vec4 position;
    float temperature;
} lamps[3];

layout(set = 0, binding = 2, std140) uniform Rig {
    Fill fills[4];
    vec4 weights;
    int chosen;
    int count;
} rig;

layout(set = 0, binding = 3) uniform sampler2D skinMap;

layout(location = 0) out vec4 outColor;

vec3 lampLight(vec3 color, vec3 place, vec3 normal)
{
    vec3 toLamp = place + vec3(0.0, 0.0, 1.5) - vWorld;
    float distance = max(length(toLamp), 0.1);
    return color * max(dot(normal, toLamp / distance), 0.0) / (1.0 + distance);
}

vec3 warmth(float temperature)
{
    return mix(vec3(1.0, 0.8, 0.6), vec3(0.7, 0.85, 1.0), clamp(temperature, 0.0, 1.0));
}

void main()
{
    vec3 normal = vNormal / max(length(vNormal), 1e-3);
    vec3 albedo = texture(skinMap, vUv).rgb;
    vec3 key = vKeyColor.rgb * vKeyColor.w * warmth(vTemperature);
    vec3 light = lampLight(key, lamps[0].position.xyz, normal);
    light += lampLight(vRimColor, lamps[2].position.xyz, -normal);
    vec3 fill = vFillColor.rgb * (vFillColor.w * rig.fills[1].spread);
    light += fill * max(dot(normal, vFillDirection), 0.0);
    light += 0.2 * vChosenColor + 0.3 * vTotal;
    vec4 both = mix(vBothLamps[0], vBothLamps[1], 0.5 + 0.5 * normal.x);
    light += 0.1 * both.rgb * both.w;
    outColor = vec4(albedo * light, clamp(rig.weights.w, 0.0, 1.0));
}
