#version 450
// Shades a prop by its material number; its own block leaves out what only the vertex shader needs.

layout(location = 0) in vec3 vNormal;
layout(location = 1) in vec2 vUv;
layout(location = 2) in vec4 vTint;
layout(location = 3) in vec3 vGlow;
layout(location = 4) flat in uint vMaterial;
layout(location = 5) in float vFade;
layout(location = 6) in vec4 vSelected;
layout(location = 7) in vec3 vModelAxis;
layout(location = 8) flat in int vIsGlass;
layout(location = 9) in vec4 vMixedTint;

layout(push_constant) uniform Shading {
    layout(offset = 64) vec4 tint;
    layout(offset = 96) float fade;
    layout(offset = 104) float roughness;
    layout(offset = 108) float selected;
} shading;

layout(set = 0, binding = 0) uniform sampler2D propMap;

layout(location = 0) out vec4 outColor;

vec3 base(vec3 texel)
{
    switch (vMaterial) {
    case 0u:
        return texel * vTint.rgb;
    case 1u:
        return mix(texel, vTint.rgb, 0.5);
    case 2u:
        return mix(vTint.rgb, vec3(0.7, 0.9, 1.0), 0.3);
    default:
        return texel * vMixedTint.rgb;
    }
}

void main()
{
    vec3 texel = texture(propMap, vUv).rgb;
    vec3 normal = vNormal / max(length(vNormal), 1e-3);
    vec3 axis = vModelAxis / max(length(vModelAxis), 1e-3);
    float light = 0.6 + 0.4 * dot(normal, axis);
    float gloss = pow(abs(normal.z), 1.0 + 8.0 * (1.0 - clamp(shading.roughness, 0.0, 1.0)));
    vec3 color = base(texel) * light + 0.2 * gloss * shading.tint.rgb;
    color += 0.3 * vGlow;
    color = mix(color, vSelected.rgb, 0.3 * clamp(shading.selected * vSelected.a, 0.0, 1.0));
    float alpha = vIsGlass != 0 ? 0.5 * vTint.a : vMixedTint.a * vTint.a;
    outColor = vec4(color * vFade, alpha * (1.0 - 0.1 * shading.fade));
}
