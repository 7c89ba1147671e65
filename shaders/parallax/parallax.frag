#version 450
// Marches the height field, refines by the last two heights, then marches to the light.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 world;
    vec4 eye;
    vec4 light;
    float depth;
    int layers;
} scene;
layout(set = 0, binding = 1) uniform sampler2D heightMap;
layout(set = 0, binding = 2) uniform sampler2D baseMap;

layout(location = 0) in vec2 vUv;
layout(location = 1) in vec3 vViewTangent;
layout(location = 2) in vec3 vLightTangent;
layout(location = 6) in float vDepthScale;

layout(location = 0) out vec4 outColor;

const int MAX_LAYERS = 16;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

float heightAt(vec2 uv)
{
    return textureLod(heightMap, uv, 0.0).r;
}

vec2 march(vec2 uv, vec3 view, out float reached)
{
    int layers = clamp(8 + scene.layers, 4, MAX_LAYERS);
    float stride = 1.0 / float(layers);
    vec2 shift = view.xy / (abs(view.z) + 0.3) * vDepthScale * stride;
    float layer = 1.0;
    float before = 1.0;
    reached = 0.0;
    for (int i = 0; i < MAX_LAYERS; ++i) {
        float height = heightAt(uv);
        if (height >= layer) {
            float over = height - layer;
            float under = before - (layer + stride);
            float blend = over / max(over - under, 1e-3);
            reached = layer;
            return uv + shift * clamp(blend, 0.0, 1.0);
        }
        if (i >= layers)
            break;
        before = height;
        uv -= shift;
        layer -= stride;
    }
    return uv;
}

float selfShadow(vec2 uv, float from, vec3 light)
{
    if (light.z <= 0.0)
        return 0.3;
    float lit = 1.0;
    vec2 shift = light.xy / (light.z + 0.3) * vDepthScale * 0.25;
    for (int i = 1; i <= 4; ++i) {
        float ray = from + 0.25 * float(i);
        float height = heightAt(uv + shift * float(i));
        if (height <= ray)
            continue;
        lit = min(lit, 1.0 - (height - ray));
        if (lit < 0.3)
            break;
    }
    return lit;
}

void main()
{
    vec3 view = unit(vViewTangent);
    vec3 light = unit(vLightTangent);
    float reached;
    vec2 uv = march(vUv, view, reached);
    const float texel = 1.0 / 64.0;
    float dx = heightAt(uv + vec2(texel, 0.0)) - heightAt(uv - vec2(texel, 0.0));
    float dy = heightAt(uv + vec2(0.0, texel)) - heightAt(uv - vec2(0.0, texel));
    vec3 n = unit(vec3(-dx, -dy, 0.5));
    float lit = selfShadow(uv, reached, light) * max(dot(n, light), 0.0);
    vec3 base = textureLod(baseMap, uv, 0.0).rgb;
    outColor = vec4(base * (0.2 + 0.9 * lit), 1.0);
}
