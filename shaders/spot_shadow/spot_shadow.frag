#version 450
// The lit surface. Its block has two of the vertex shader's members, at the same offsets.

layout(location = 0) in mat4 vShadowMatrix;
layout(location = 4) in vec3 vWorld;
layout(location = 5) in vec3 vNormal;
layout(location = 6) in vec2 vUv;
layout(location = 7) in vec4 vShadowOrigin;
layout(location = 8) in vec3 vLightColor;
layout(location = 8, component = 3) in float vBias;
layout(location = 9) in vec4 vAmbient;
layout(location = 10) in vec2 vCone;
layout(location = 11) in vec3 vUp;

layout(set = 0, binding = 3, std140) uniform SpotLight {
    layout(offset = 64) vec4 placeAndReach;
    layout(offset = 96) vec4 coneTerms;
} spot;

layout(set = 0, binding = 4) uniform sampler2DShadow shadowMap;
layout(set = 0, binding = 5) uniform sampler2D albedoMap;

layout(location = 0) out vec4 outColor;

float shadow(vec3 world, float bias)
{
    vec4 p = vShadowMatrix * vec4(world, 1.0);
    vec3 projected = p.xyz / max(p.w, 0.1);
    vec2 uv = projected.xy * 0.5 + 0.5;
    float near = 0.0;
    float soft = 0.002 + 0.01 * abs(spot.coneTerms.w);
    for (int i = 0; i < 4; ++i) {
        vec2 offset = vec2(float(i & 1), float(i >> 1)) - 0.5;
        near += textureLod(shadowMap, vec3(uv + offset * soft, projected.z - bias), 0.0);
    }
    return near * 0.25;
}

void main()
{
    vec3 albedo = texture(albedoMap, vUv).rgb;
    vec3 normal = vNormal / max(length(vNormal), 1e-3);
    vec3 toLight = spot.placeAndReach.xyz + vec3(0.0, 0.0, 1.5) - vWorld;
    float distance = max(length(toLight), 1e-3);
    vec3 direction = toLight / distance;
    float cone = clamp(dot(direction, vUp) * vCone.x + vCone.y + 0.6, 0.1, 1.0);
    float reach = max(abs(spot.placeAndReach.w), 0.3) * 4.0;
    float falloff = clamp(1.0 - distance / reach, 0.1, 1.0);
    float lit = max(dot(normal, direction), 0.0) * cone * falloff;
    lit *= 0.4 + 0.6 * shadow(vWorld, vBias);
    vec3 tint = 0.9 + 0.1 * clamp(vShadowOrigin.xyz / max(vShadowOrigin.w, 0.5), -1.0, 1.0);
    vec3 light = vLightColor * (0.2 + 2.0 * lit) + 0.5 * vAmbient.rgb * vAmbient.w;
    outColor = vec4(albedo * tint * light, 1.0);
}
