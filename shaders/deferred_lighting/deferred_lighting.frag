#version 450
// Lights the g-buffer: rebuilds the position, unpacks the surface, walks a tile's light list.

layout(set = 0, binding = 1) uniform sampler2D albedoBuffer;
layout(set = 0, binding = 2) uniform sampler2D normalBuffer;
layout(set = 0, binding = 3) uniform sampler2D depthBuffer;

struct Light {
    vec4 positionRadius;
    vec4 colorKind;      // w < 0: spot
    vec4 direction;
};
layout(set = 0, binding = 4, std430) readonly buffer LightList {
    int count;
    int pad0;
    int pad1;
    int pad2;
    Light lights[8];
} list;

layout(location = 0) in vec2 vUv;
layout(location = 2) in vec3 vWorldRay;
layout(location = 3) flat in vec3 vEye;
layout(location = 5) flat in vec2 vPlanes;

layout(location = 0) out vec4 outLight;

struct Surface {
    vec3 position;
    vec3 normal;
    vec3 albedo;
    float rough;
    float occlusion;
};

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

vec3 fromOctahedral(vec2 e)
{
    vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
    float fold = max(-n.z, 0.0);
    n.x += n.x >= 0.0 ? -fold : fold;
    n.y += n.y >= 0.0 ? -fold : fold;
    return unit(n);
}

Surface load()
{
    Surface s;
    float depth = texture(depthBuffer, vUv).r;
    float distance = mix(vPlanes.x, vPlanes.y, depth * depth);
    s.position = vEye + vWorldRay * distance;
    vec4 packed = texture(normalBuffer, vUv);
    s.normal = fromOctahedral(packed.xy * 2.0 - 1.0);
    s.rough = clamp(packed.z, 0.1, 1.0);
    vec4 albedo = texture(albedoBuffer, vUv);
    s.albedo = albedo.rgb;
    s.occlusion = albedo.a;
    return s;
}

vec3 contribution(Surface s, Light light)
{
    vec3 toLight = light.positionRadius.xyz - s.position;
    float squared = dot(toLight, toLight);
    float radius = 1.0 + abs(light.positionRadius.w) * 3.0;
    if (squared > radius * radius)
        return vec3(0.0);
    vec3 l = unit(toLight);
    float window = 1.0 - squared / (radius * radius);
    if (light.colorKind.w < 0.0) {
        float cone = dot(-l, unit(light.direction.xyz));
        window *= smoothstep(0.2, 0.6, cone);
    }
    vec3 h = unit(l - unit(vWorldRay));
    float diffuse = max(dot(s.normal, l), 0.0);
    float power = 2.0 / (s.rough * s.rough);
    float gloss = pow(clamp(dot(s.normal, h), 0.0, 1.0), power) * 0.3;
    return abs(light.colorKind.rgb) * window * window * (s.albedo * diffuse + gloss);
}

void main()
{
    Surface s = load();
    vec3 sum = s.albedo * s.occlusion * 0.2;
    int count = clamp(list.count, 1, 8);
    for (int i = 0; i < count; ++i)
        sum += contribution(s, list.lights[i]);
    outLight = vec4(sum, 1.0);
}
