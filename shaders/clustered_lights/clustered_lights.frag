#version 450
// Walks the bits of a light mask; the varying array is read with the loop's index.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 shadowFromWorld[4];
    vec4 lightColors[4];
    int selected;
    int clusterBits;
} scene;
layout(set = 0, binding = 1) uniform sampler2D baseMap;
layout(set = 0, binding = 2) uniform sampler2DShadow shadowMap;

layout(location = 0) in vec3 vPosition;
layout(location = 1) in vec4 vShadow[4];
layout(location = 5) in vec3 vNormal;
layout(location = 6) in vec4 vUv;
layout(location = 8) flat in ivec3 vCluster;

layout(location = 0) out vec4 outColor;

float shadowed(int light)
{
    vec4 s = vShadow[light];
    vec3 p = s.xyz / max(abs(s.w), 0.1) * 0.5 + 0.5;
    return textureLod(shadowMap, clamp(p, 0.0, 1.0), 0.0);
}

void main()
{
    vec3 base = texture(baseMap, vUv.xy).rgb;
    float size = max(length(vNormal), 1e-3);
    float up = 0.6 + 0.4 * vNormal.z / size;
    uint mask = uint(vCluster.z) | (1u << uint(clamp(vCluster.x, 0, 3)));
    vec3 sum = vec3(0.1);
    while ((mask & 15u) != 0u) {
        int light = findLSB(mask & 15u);
        mask &= mask - 1u;
        float lit = shadowed(light);
        if (lit <= 0.0)
            continue;
        sum += abs(scene.lightColors[light].rgb) * lit * up;
    }
    int chosen = clamp(scene.selected, 0, 3);
    float contour = fract(vShadow[chosen].z * 8.0);
    sum *= 0.9 + 0.1 * step(0.1, contour);
    outColor = vec4(base * sum * (0.8 + 0.2 * vPosition.z), 1.0);
}
