#version 450
// Skin: wrapped diffuse in three widths, thickness glow from behind, two specular lobes.

layout(set = 0, binding = 0, std140) uniform View {
    mat4 viewProjection;
    mat4 lastViewProjection;
    vec4 eye;
    vec4 light;
    vec4 jitter;
} view;
layout(set = 0, binding = 1) uniform sampler2D baseMap;
layout(set = 0, binding = 2) uniform sampler2D normalMap;
layout(set = 0, binding = 3) uniform sampler2D thicknessMap;

layout(location = 0) in vec3 vPosition;
layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec4 vTangent;
layout(location = 3) in vec4 vUv;
layout(location = 4) in vec4 vColor;
layout(location = 5) in vec4 vNow;
layout(location = 8) in vec3 vToEye;

layout(location = 0) out vec4 outColor;
layout(location = 1) out vec4 outDiffuse;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

vec3 wrapped(vec3 sharp, vec3 soft, vec3 light, vec3 width)
{
    vec3 bent = vec3(dot(soft, light), dot(mix(sharp, soft, 0.5), light), dot(sharp, light));
    return clamp((bent + width) / (1.0 + width), 0.0, 1.0);
}

float lobe(vec3 n, vec3 h, float power)
{
    return pow(clamp(dot(n, h), 0.0, 1.0), power) * (power + 8.0) * 0.04;
}

void main()
{
    vec3 soft = unit(vNormal);
    vec3 tangent = unit(vTangent.xyz - soft * dot(soft, vTangent.xyz));
    vec3 bitangent = cross(soft, tangent) * vTangent.w;
    vec2 slope = texture(normalMap, vUv.xy).xy - 0.5;
    vec3 sharp = unit(soft + tangent * slope.x + bitangent * slope.y);
    vec3 eye = unit(vToEye);
    vec3 light = unit(view.light.xyz * 2.0 + vec3(0.0, 0.2, 1.0) - vPosition);
    vec3 halfway = unit(light + eye);

    vec3 skin = texture(baseMap, vUv.xy).rgb * vec3(1.0, 0.8, 0.7) * vColor.rgb;
    vec3 diffuse = wrapped(sharp, soft, light, vec3(0.5, 0.25, 0.15));
    float thin = 1.0 - texture(thicknessMap, vUv.xy).r;
    float behind = clamp(dot(-light, eye) * 0.5 + 0.5, 0.0, 1.0);
    vec3 glow = vec3(0.9, 0.25, 0.15) * thin * behind * 0.6;
    float gloss = 0.7 * lobe(sharp, halfway, 12.0) + 0.3 * lobe(sharp, halfway, 48.0);
    float vignette = 1.0 - 0.1 * dot(vNow.xy, vNow.xy) / max(vNow.w * vNow.w, 0.1);

    outDiffuse = vec4(skin * diffuse, thin);
    outColor = vec4((skin * diffuse + glow + gloss * 0.2) * vignette, 1.0);
}
