#version 450
// Metal/roughness PBR, normal mapped, three of four cascades, filtered shadows, small light list.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 world;
    mat4 normalMatrix;
    mat4 cascades[4];
    vec4 splits;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 eye;
    int lightCount;
    float exposure;
    vec2 uvScroll;
} scene;

struct PointLight {
    vec4 positionRadius;
    vec4 color;
};
layout(set = 0, binding = 1, std140) uniform Lights { PointLight lights[4]; };
layout(set = 0, binding = 2) uniform sampler2D albedoMap;
layout(set = 0, binding = 3) uniform sampler2D normalMap;
layout(set = 0, binding = 4) uniform sampler2D metalRoughMap;
layout(set = 0, binding = 5) uniform sampler2DArrayShadow shadowMap;
layout(set = 0, binding = 6) uniform samplerCube environment;

layout(location = 0) in vec3 vWorld;
layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec3 vTangent;
layout(location = 3) in vec3 vBitangent;
layout(location = 4) in vec2 vUv;
layout(location = 5) in vec4 vCascade0;
layout(location = 6) in vec4 vCascade1;
layout(location = 7) in vec4 vCascade2;
layout(location = 9) in vec3 vView;
layout(location = 10) in vec4 vDepths;

layout(location = 0) out vec4 outColor;

const float PI = 3.14159265;

struct Surface {
    vec3 diffuse;
    vec3 f0;
    vec3 normal;
    vec3 view;
    float alpha;
};

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

float distribution(float nh, float alpha)
{
    float a2 = alpha * alpha;
    float d = nh * nh * (a2 - 1.0) + 1.0;
    return a2 / max(PI * d * d, 1e-4);
}

float visibility(float nv, float nl, float alpha)
{
    float k = alpha * 0.5;
    return 0.25 / max((nv * (1.0 - k) + k) * (nl * (1.0 - k) + k), 1e-3);
}

vec3 fresnel(vec3 f0, float vh)
{
    return f0 + (1.0 - f0) * pow(clamp(1.0 - vh, 0.0, 1.0), 5.0);
}

vec3 shade(Surface s, vec3 light, vec3 radiance)
{
    float nl = dot(s.normal, light);
    if (nl <= 0.0)
        return vec3(0.0);
    vec3 h = unit(light + s.view);
    float nv = max(dot(s.normal, s.view), 1e-3);
    float nh = clamp(dot(s.normal, h), 0.0, 1.0);
    vec3 f = fresnel(s.f0, clamp(dot(s.view, h), 0.0, 1.0));
    vec3 gloss = f * min(distribution(nh, s.alpha) * visibility(nv, nl, s.alpha), 20.0);
    return ((1.0 - f) * s.diffuse / PI + gloss) * radiance * nl;
}

// Explicit gradients: the taps lie behind branches that differ from pixel to pixel.
float shadowTap(vec3 p, float layer)
{
    return textureGrad(shadowMap, vec4(p.xy, layer, p.z), vec2(0.0), vec2(0.0));
}

float cascadeShadow(vec4 position, float layer)
{
    vec3 p = position.xyz / max(position.w, 0.05);
    if (any(lessThan(p.xy, vec2(0.0))) || any(greaterThan(p.xy, vec2(1.0))))
        return 1.0;
    float lit = 0.0;
    for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x)
            lit += shadowTap(vec3(p.xy + vec2(x, y) * 0.01, p.z - 0.005), layer);
    return lit / 9.0;
}

float sunVisibility(float depth)
{
    vec3 limits = vec3(0.4, 0.9, 1.6) + 0.1 * scene.splits.xyz;
    if (depth < limits.x)
        return cascadeShadow(vCascade0, 0.0);
    if (depth < limits.y)
        return cascadeShadow(vCascade1, 1.0);
    if (depth < limits.z)
        return cascadeShadow(vCascade2, 2.0);
    return 1.0;
}

void main()
{
    vec3 texel = texture(albedoMap, vUv).rgb;
    vec2 metalRough = texture(metalRoughMap, vUv).bg;
    vec3 bump = texture(normalMap, vUv).xyz * 2.0 - 1.0;
    Surface s;
    s.normal = unit(vTangent * bump.x + vBitangent * bump.y + vNormal * (abs(bump.z) + 0.5));
    s.view = unit(vView);
    float metal = clamp(metalRough.x, 0.0, 1.0);
    s.diffuse = texel * (1.0 - metal);
    s.f0 = mix(vec3(0.04), texel, metal);
    float rough = clamp(metalRough.y, 0.08, 1.0);
    s.alpha = rough * rough;

    vec3 sun = unit(scene.sunDirection.xyz + vec3(0.0, 0.4, 1.0));
    vec3 color = shade(s, sun, 2.0 + scene.sunColor.rgb) * sunVisibility(vDepths.x);
    int count = clamp(scene.lightCount, 0, 4);
    for (int i = 0; i < count; ++i) {
        vec3 toLight = lights[i].positionRadius.xyz - vWorld;
        float squared = dot(toLight, toLight);
        if (squared > 4.0)
            continue;
        float fall = 1.0 / (1.0 + 4.0 * squared);
        color += shade(s, unit(toLight), abs(lights[i].color.rgb) * fall);
    }
    vec3 mirrored = textureLod(environment, reflect(-s.view, s.normal), rough * 3.0).rgb;
    color += mirrored * fresnel(s.f0, max(dot(s.normal, s.view), 0.0)) * 0.5 + s.diffuse * 0.1;
    outColor = vec4(color * exp2(scene.exposure) * vDepths.z + 0.02, 1.0);
}
