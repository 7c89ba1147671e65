#version 450
// Fills four targets: albedo + occlusion, packed normal + roughness, motion, material number.

layout(set = 0, binding = 0, std140) uniform View {
    mat4 viewProjection;
    mat4 lastViewProjection;
    vec4 eye;
    vec4 light;
    vec4 jitter;
} view;
layout(set = 0, binding = 1) uniform sampler2D baseMap;
layout(set = 0, binding = 2) uniform sampler2D normalMap;
layout(set = 0, binding = 3) uniform sampler2D ormMap;

layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec4 vTangent;
layout(location = 3) in vec4 vUv;
layout(location = 4) in vec4 vColor;
layout(location = 5) in vec4 vNow;
layout(location = 6) in vec4 vBefore;
layout(location = 7) flat in ivec2 vIds;

layout(location = 0) out vec4 outAlbedo;
layout(location = 1) out vec4 outNormal;
layout(location = 2) out vec2 outMotion;
layout(location = 3) out ivec4 outMaterial;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

vec2 octahedral(vec3 n)
{
    float sum = abs(n.x) + abs(n.y) + abs(n.z);
    vec2 p = n.xy / max(sum, 1e-5);
    if (n.z >= 0.0)
        return p;
    vec2 folded = 1.0 - abs(p.yx);
    return vec2(p.x >= 0.0 ? folded.x : -folded.x, p.y >= 0.0 ? folded.y : -folded.y);
}

vec2 screenMotion(vec4 now, vec4 before)
{
    vec2 a = now.xy / max(now.w, 0.05);
    vec2 b = before.xy / max(before.w, 0.05);
    return (a - b) - (view.jitter.xy - view.jitter.zw) * 0.002;
}

void main()
{
    vec4 base = texture(baseMap, vUv.xy) * vColor;
    vec3 orm = texture(ormMap, vUv.xy).rgb;
    vec3 normal = unit(vNormal);
    vec3 tangent = unit(vTangent.xyz - normal * dot(normal, vTangent.xyz));
    vec3 bitangent = cross(normal, tangent) * vTangent.w;
    vec2 slope = texture(normalMap, vUv.xy).xy * 2.0 - 1.0;
    normal = unit(tangent * slope.x * 0.5 + bitangent * slope.y * 0.5 + normal);

    outAlbedo = vec4(base.rgb, orm.r);
    outNormal = vec4(octahedral(normal) * 0.5 + 0.5, orm.g, orm.b);
    outMotion = screenMotion(vNow, vBefore);
    outMaterial = ivec4(vIds.x, vIds.y & 0xff, 0, 1);
}
