#version 450
// Four-material ground: weights that sum to one, heights and tints of the layers in the block.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec4 inWeights;
layout(location = 2) in vec2 inUv;
layout(location = 3) in float inSlope;

layout(set = 0, binding = 0, std140) uniform Ground {
    mat4 viewProjection;
    vec4 layerHeight;
    vec4 layerWetness;
    vec4 layerRoughness;
    vec4 tints[4];
    float tiling;
} ground;

layout(location = 0) out vec4 vWeights;
layout(location = 1) out vec2 vUv;
layout(location = 1, component = 2) out float vSlope;
layout(location = 1, component = 3) out float vFlat;        // 1 - slope

void main()
{
    vec4 positive = abs(inWeights) + 0.05;
    float total = positive.x + positive.y + positive.z + positive.w;
    vec3 shares = positive.xyz / total;
    vWeights = vec4(shares, 1.0 - shares.x - shares.y - shares.z);
    vUv = inUv;
    vSlope = inSlope;
    vFlat = 1.0 - inSlope;
    vec4 clip = ground.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
