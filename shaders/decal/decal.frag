#version 450
// Writes one of three looks by a specialization constant; only one stays when it is known.

layout(constant_id = 1) const int UV_SETS = 2;
layout(constant_id = 5) const int LOOK = 1;
layout(constant_id = 6) const float CUTOFF = 0.1;

layout(push_constant) uniform Decal {
    mat4 transform;
    vec4 color;
    vec2 uvOffset;
    float fade;
    int channel;
} decal;

layout(set = 0, binding = 0) uniform sampler2D decalMap;
layout(set = 0, binding = 1) uniform sampler2D noiseMap;

layout(location = 0) in vec2 vUv0;
layout(location = 1) in vec2 vUv1;
layout(location = 2) in vec3 vNormal;
layout(location = 3) in vec4 vColor;
layout(location = 4) in vec3 vProjected;
layout(location = 5) flat in int vChannel;
layout(location = 6) in float vFade;

layout(location = 0) out vec4 outColor;

vec4 look(vec4 texel, float noise)
{
    if (LOOK == 0)
        return texel;
    if (LOOK == 1)
        return vec4(texel.rgb * vColor.rgb + noise * 0.2, texel.a);
    vec3 shifted = vProjected * 0.5 + 0.5;
    return vec4(mix(texel.rgb, shifted, 0.5), noise);
}

void main()
{
    vec4 texel = texture(decalMap, vUv0);
    float noise = UV_SETS > 1 ? texture(noiseMap, vUv1).r : 0.5;
    float channel = texel[clamp(vChannel, 0, 3)];
    vec4 color = look(texel, noise);
    float size = max(length(vNormal), 1e-3);
    float facing = abs(vNormal.z) / size;
    float alpha = (0.3 + 0.7 * channel) * vFade * smoothstep(0.05, 0.4, facing);
    if (alpha < CUTOFF)
        discard;
    outColor = vec4(color.rgb * alpha, alpha) * (1.0 + 0.2 * abs(decal.color.a));
}
