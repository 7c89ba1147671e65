#version 450
// Blends the layers of a texture array by the weights; layers five to eight only by count.

layout(set = 0, binding = 0, std140) uniform Terrain {
    mat4 viewProjection;
    vec4 tile;
    vec4 detailScales;
    vec4 sun;
    float heightScale;
    float morph;
    int layerCount;
} terrain;
layout(set = 0, binding = 2) uniform sampler2DArray layers;
layout(set = 0, binding = 3) uniform sampler2D macroMap;

layout(location = 0) in vec3 vPosition;
layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec4 vWeights[2];
layout(location = 4) in vec2 vMacroUv;
layout(location = 5) in vec4 vDetailUv;
layout(location = 7) in float vSlope;

layout(location = 0) out vec4 outColor;

vec3 layerColor(int layer)
{
    return texture(layers, vec3(vDetailUv.xy, float(layer & 3))).rgb;
}

vec3 blended(out float total)
{
    vec3 sum = vec3(0.0);
    total = 0.0;
    int count = clamp(terrain.layerCount, 2, 4);
    for (int i = 0; i < 4; ++i) {
        if (i >= count)
            break;
        float weight = vWeights[0][i];
        sum += layerColor(i) * weight;
        total += weight;
    }
    float rock = vWeights[1].x;
    sum += layerColor(3) * vec3(0.6, 0.55, 0.5) * rock;
    total += rock;
    return sum;
}

void main()
{
    float total;
    vec3 color = blended(total);
    color /= max(total, 0.01);
    vec3 macro = texture(macroMap, vMacroUv).rgb;
    color = mix(color, color * macro * 1.8, 0.5);
    vec3 cliff = vec3(0.35, 0.3, 0.27);
    color = mix(color, cliff, smoothstep(0.1, 0.5, vSlope));
    vec3 sun = normalize(vec3(0.3, 0.4, 1.2) + 0.2 * terrain.sun.xyz);
    float light = max(dot(normalize(vNormal + vec3(0.0, 0.0, 1e-3)), sun), 0.0);
    float cave = smoothstep(-0.2, 0.2, vPosition.z);
    outColor = vec4(color * (0.25 + 0.9 * light) * (0.6 + 0.4 * cave), 1.0);
}
