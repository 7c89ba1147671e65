#version 450
// Reads a 2D, an array, a cube, a volume, a shadow map, and a separate image and sampler.

layout(set = 0, binding = 1) uniform sampler2D detail;
layout(set = 0, binding = 2) uniform sampler2DArray materials;
layout(set = 0, binding = 3) uniform samplerCube environment;
layout(set = 0, binding = 4) uniform sampler3D volume;
layout(set = 0, binding = 5) uniform sampler2DShadow shadowMap;
layout(set = 1, binding = 0) uniform texture2D rampImage;
layout(set = 1, binding = 1) uniform sampler rampSampler;

layout(location = 0) in vec2 vUv;
layout(location = 1) in vec3 vArrayUv;
layout(location = 2) in vec3 vReflected;
layout(location = 4) in vec3 vVolume;
layout(location = 5) in vec4 vShadow;
layout(location = 7) in float vRamp;
layout(location = 8) flat in float vLod;
layout(location = 9) in vec3 vNormal;

layout(location = 0) out vec4 outColor;

void main()
{
    vec3 base = texture(materials, vArrayUv).rgb * (0.5 + texture(detail, vUv * 4.0).r);
    vec3 mirrored = textureLod(environment, vReflected, vLod).rgb;
    float smoke = texture(volume, vVolume).r;
    vec3 ramp = texture(sampler2D(rampImage, rampSampler), vec2(vRamp, 0.5)).rgb;
    vec3 s = vShadow.xyz / max(vShadow.w, 0.05);
    float lit = textureLod(shadowMap, clamp(s, 0.0, 1.0), 0.0);
    vec4 corners = textureGather(detail, vUv, 1);
    float rough = max(max(corners.x, corners.y), max(corners.z, corners.w));
    float size = max(length(vNormal), 1e-3);
    float rim = pow(1.0 - clamp(abs(vNormal.z) / size, 0.0, 1.0), 3.0);
    vec3 color = base * ramp * (0.4 + 0.6 * lit);
    color = mix(color, mirrored, clamp(0.1 + rim * (1.0 - 0.5 * rough), 0.0, 1.0));
    outColor = vec4(mix(color, vec3(0.7), smoke * 0.2), 1.0);
}
