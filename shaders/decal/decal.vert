#version 450
// A projected decal: push constants per draw, specialization constants per variant.

layout(constant_id = 0) const bool ANIMATED = false;
layout(constant_id = 1) const int UV_SETS = 2;
layout(constant_id = 2) const float BIAS = 0.001;

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inUv;

layout(push_constant) uniform Decal {
    mat4 transform;
    vec4 color;
    vec2 uvOffset;
    float fade;
    int channel;
} decal;

layout(location = 0) out vec2 vUv0;
layout(location = 1) out vec2 vUv1;
layout(location = 2) out vec3 vNormal;
layout(location = 3) out vec4 vColor;
layout(location = 4) out vec3 vProjected;
layout(location = 5) flat out int vChannel;
layout(location = 6) out float vFade;

void main()
{
    vec4 p = decal.transform * vec4(inPosition, 1.0);
    vUv0 = inUv.xy * 0.5 + 0.5;
    if (ANIMATED)
        vUv0 += decal.uvOffset;
    vUv1 = UV_SETS > 1 ? inUv.zw : vUv0;
    vNormal = inNormal;
    vColor = abs(decal.color);
    vProjected = p.xyz / max(p.w, 0.05);
    vChannel = decal.channel;
    vFade = 0.5 + 0.5 * clamp(decal.fade, 0.0, 1.0);
    p.z = 0.5 * (p.z + p.w) - BIAS * p.w;
    gl_Position = p;
}
