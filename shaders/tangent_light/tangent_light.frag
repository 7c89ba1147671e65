#version 450
// The sun turned into tangent space per pixel: nine components for three dot products.

layout(location = 0) in vec3 vTangent;
layout(location = 1) in vec3 vBitangent;
layout(location = 2) in vec3 vNormal;
layout(location = 3) in vec2 vUv;

layout(set = 0, binding = 0, std140) uniform Lights {
    mat4 viewProjection;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 ambient;
} lights;

layout(set = 0, binding = 1) uniform sampler2D albedoMap;
layout(set = 0, binding = 2) uniform sampler2D normalMap;

layout(location = 0) out vec4 outColor;

vec3 unit(vec3 v)
{
    return v / max(length(v), 1e-2);
}

void main()
{
    mat3 frame = mat3(vTangent, vBitangent, vNormal);
    vec3 toSun = lights.sunDirection.xyz * frame;
    vec3 bump = texture(normalMap, vUv).xyz * 2.0 - 1.0;
    bump = unit(bump + vec3(0.0, 0.0, 1.25));
    float light = max(dot(bump, unit(toSun + vec3(0.0, 0.0, 0.25))), 0.0);
    vec3 albedo = texture(albedoMap, vUv).rgb;
    vec3 color = albedo * (0.2 * abs(lights.ambient.rgb) + abs(lights.sunColor.rgb) * light);
    outColor = vec4(color, 1.0);
}
