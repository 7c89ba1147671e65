#version 450
// Car-paint-like look from the nested struct; copies a layer out of it and changes the copy.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 world;
    vec4 coat;
    vec4 flake;
    vec4 light;
    int variant;
} scene;
layout(set = 0, binding = 1) uniform sampler2D flakeMap;

struct Layer {
    vec4 tint;
    vec2 uv;
    float roughness;
};
struct Geometry {
    vec3 position;
    vec3 normal;
};
struct Paint {
    Geometry geometry;
    Layer base;
    Layer coat;
    float wear;
};

layout(location = 0) in Paint vPaint;
layout(location = 12) in Geometry vShell;

layout(location = 0) out vec4 outColor;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

vec3 lit(Layer layer, vec3 normal, vec3 light, float sparkle)
{
    float diffuse = max(dot(normal, light), 0.0);
    vec3 halfway = unit(light + vec3(0.0, 0.0, 1.0));
    float power = 2.0 / (layer.roughness * layer.roughness);
    float gloss = pow(clamp(dot(normal, halfway), 0.0, 1.0), min(power, 256.0));
    return layer.tint.rgb * (0.2 + diffuse) + gloss * layer.tint.a * (0.5 + sparkle);
}

void main()
{
    Layer coat = vPaint.coat;
    vec3 normal = unit(vPaint.geometry.normal);
    vec3 light = unit(scene.light.xyz + vec3(0.2, 0.4, 1.0));
    float sparkle = texture(flakeMap, coat.uv).r;
    coat.roughness = clamp(coat.roughness * 0.5 + 0.05, 0.05, 1.0);
    vec3 under = lit(vPaint.base, normal, light, 0.0);
    vec3 over = lit(coat, normal, light, sparkle);
    float depth = clamp(vShell.position.z * 0.5 + 0.5, 0.0, 1.0);
    outColor = vec4(mix(under, over, coat.tint.a) * (0.7 + 0.3 * depth), 1.0);
}
