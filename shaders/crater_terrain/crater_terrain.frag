#version 450
// What the weights decide is linear in them: height, wetness, roughness, and that is all that is
// asked of them, so three numbers could cross in place of four.

layout(location = 0) in vec4 vWeights;
layout(location = 1) in vec2 vUv;
layout(location = 1, component = 2) in float vSlope;
layout(location = 1, component = 3) in float vFlat;

layout(set = 0, binding = 0, std140) uniform Ground {
    mat4 viewProjection;
    vec4 layerHeight;
    vec4 layerWetness;
    vec4 layerRoughness;
    vec4 tints[4];
    float tiling;
} ground;

layout(set = 0, binding = 1) uniform sampler2D groundMap;
layout(set = 0, binding = 2) uniform sampler2D cliffMap;

layout(location = 0) out vec4 outColor;

void main()
{
    float height = dot(vWeights, ground.layerHeight);
    float wetness = dot(vWeights, ground.layerWetness);
    float roughness = vWeights.x * ground.layerRoughness.x + vWeights.y * ground.layerRoughness.y
        + vWeights.z * ground.layerRoughness.z + vWeights.w * ground.layerRoughness.w;
    vec2 uv = vUv * (1.0 + ground.tiling);
    vec3 soil = texture(groundMap, uv).rgb;
    vec3 cliff = texture(cliffMap, uv.yx).rgb;
    float steep = smoothstep(0.1, 0.9, vSlope);
    float level = smoothstep(0.3, 0.8, vFlat);
    vec3 color = mix(soil * (0.5 + 0.5 * level), cliff, steep * 0.7);
    color *= 1.0 - 0.5 * clamp(wetness, 0.0, 1.0);
    color += 0.1 * clamp(height * height, 0.0, 1.0);
    float gloss = 1.0 - clamp(roughness, 0.0, 1.0);
    outColor = vec4(color + 0.1 * gloss * gloss, 1.0);
}
