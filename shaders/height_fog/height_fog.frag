#version 450
// Sunlit ground in height fog; the ambient light comes from the block itself, the rest travelled.

layout(location = 0) in vec3 vWorld;
layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec2 vUv;
layout(location = 3) in vec4 vFogColor;
layout(location = 4) in vec4 vFogDensity;
layout(location = 5) in vec2 vFogHeight;
layout(location = 5, component = 2) in float vExposure;
layout(location = 6) in vec3 vSunDirection;
layout(location = 6, component = 3) in float vPulse;
layout(location = 7) in vec3 vSunColor;
layout(location = 8) in vec3 vWindowAxis;

layout(set = 0, binding = 0, std140) uniform Frame {
    mat4 viewProjection;
    mat4 windowFromWorld;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 fogColor;
    vec4 fogDensity;
    vec4 fogHeight;
    float time;
    float exposure;
} frame;

layout(set = 0, binding = 1) uniform sampler2D groundMap;

layout(location = 0) out vec4 outColor;

float fogAmount(float height, float depth)
{
    float top = max(abs(vFogHeight.y), 0.1);
    float above = max(height - (vFogHeight.x - 1.0), 0.0) / top;
    float thickness = vFogDensity.x * exp(-vFogDensity.y * above);
    float travelled = max(depth - 0.1 * vFogDensity.z, 0.0);
    return min(1.0 - exp(-thickness * travelled * 4.0), clamp(0.5 * vFogDensity.w, 0.0, 0.9));
}

void main()
{
    vec3 albedo = texture(groundMap, vUv).rgb;
    vec3 normal = vNormal / max(length(vNormal), 1e-3);
    vec3 light = vSunColor * max(dot(normal, vSunDirection), 0.0);
    vec3 ambient = 0.2 + 0.1 * frame.sunColor.rgb;
    float window = 0.5 + 0.5 * sin(dot(vWindowAxis, vWorld) * 9.0);
    vec3 color = albedo * (light + ambient) * mix(0.8, 1.0, window);
    color = mix(color, vFogColor.rgb * vPulse, fogAmount(vWorld.y, 0.5 + vWorld.z));
    outColor = vec4(1.0 - exp(-color * (0.5 + abs(vExposure))), clamp(vFogColor.a, 0.0, 1.0));
}
