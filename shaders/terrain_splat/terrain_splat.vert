#version 450
// A terrain tile: height from a map, normal by differences, eight blend weights, several uv sets.

layout(location = 0) in vec2 inGrid;
layout(location = 1) in vec4 inWeightsA;
layout(location = 2) in vec4 inWeightsB;
layout(location = 3) in float inSkirt;

layout(set = 0, binding = 0, std140) uniform Terrain {
    mat4 viewProjection;
    vec4 tile;           // xy: offset, zw: scale
    vec4 detailScales;
    vec4 sun;
    float heightScale;
    float morph;
    int layerCount;
} terrain;
layout(set = 0, binding = 1) uniform sampler2D heightMap;

layout(location = 0) out vec3 vPosition;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec4 vWeights[2];
layout(location = 4) out vec2 vMacroUv;
layout(location = 5) out vec4 vDetailUv;     // xy: near set, zw: far set
layout(location = 6) out vec4 vTriplanar;
layout(location = 7) out float vSlope;
layout(location = 8) out float vFog;

float heightAt(vec2 uv)
{
    float coarse = textureLod(heightMap, uv, 1.0).r;
    float fine = textureLod(heightMap, uv, 0.0).r;
    return mix(fine, coarse, clamp(terrain.morph, 0.0, 1.0)) * (0.3 + 0.2 * terrain.heightScale);
}

vec3 normalAt(vec2 uv)
{
    const float texel = 1.0 / 64.0;
    float dx = heightAt(uv + vec2(texel, 0.0)) - heightAt(uv - vec2(texel, 0.0));
    float dy = heightAt(uv + vec2(0.0, texel)) - heightAt(uv - vec2(0.0, texel));
    return normalize(vec3(-dx, -dy, 0.5));
}

void main()
{
    vec2 grid = inGrid * (0.9 + 0.1 * terrain.tile.zw);
    vec2 uv = grid * 0.5 + 0.5 + 0.1 * terrain.tile.xy;
    float height = heightAt(uv) - max(inSkirt, 0.0) * 0.05;
    vec3 position = vec3(grid, height);
    vec3 normal = normalAt(uv);

    vec4 a = abs(inWeightsA) + 0.01;
    vec4 b = abs(inWeightsB);
    float sum = dot(a, vec4(1.0)) + dot(b, vec4(1.0));
    vWeights[0] = a / sum;
    vWeights[1] = b / sum;
    vPosition = position;
    vNormal = normal;
    vMacroUv = uv;
    vDetailUv = vec4(uv * 8.0, uv * (2.0 + abs(terrain.detailScales.x)));
    vTriplanar = vec4(abs(normal), 1.0);
    vSlope = 1.0 - normal.z;
    vFog = clamp(exp(-abs(position.y)), 0.0, 1.0);
    vec4 clip = terrain.viewProjection * vec4(position, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
