#version 450
// Weathered surface: wetness, banding and fog from components that share Locations.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 fog;
    vec4 light;
    float time;
    int id;
} scene;
layout(set = 0, binding = 1) uniform sampler2D baseMap;

layout(location = 0) in vec3 vNormal;
layout(location = 0, component = 3) in float vFog;
layout(location = 1) in vec2 vUv;
layout(location = 1, component = 2) in float vWet;
layout(location = 2, component = 1) in vec3 vColor;
layout(location = 3, component = 0) flat in int vId;
layout(location = 4, component = 1) in float vBands[3];
layout(location = 4, component = 2) in vec2 vPairs[3];

layout(location = 0) out vec4 outColor;

void main()
{
    float size = max(length(vNormal), 1e-3);
    vec3 n = vNormal / size;
    vec3 light = normalize(scene.light.xyz * 0.5 + vec3(0.1, 0.2, 1.0));
    vec3 base = texture(baseMap, vUv).rgb * vColor;
    float diffuse = max(dot(n, light), 0.0);
    float gloss = pow(max(reflect(-light, n).z, 0.0), 16.0) * vWet;
    int band = clamp(vId, 0, 2);
    float stripe = 0.5 + 0.5 * sin(vPairs[band].x * 10.0 + vBands[1] * 3.0);
    vec3 color = base * (0.3 + 0.7 * diffuse) * (1.0 - 0.4 * vWet) + gloss;
    color *= 0.8 + 0.2 * stripe;
    outColor = vec4(mix(color, abs(scene.fog.rgb), vFog), 1.0);
}
