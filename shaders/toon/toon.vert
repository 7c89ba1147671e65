#version 450
// One mesh vertex shader for every opaque pass: g-buffer, depth, debug views, special materials.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inTangent;
layout(location = 3) in vec2 inUv;
layout(location = 4) in vec2 inUv2;
layout(location = 5) in vec4 inColor;

layout(set = 0, binding = 0, std140) uniform View {
    mat4 viewProjection;
    mat4 lastViewProjection;
    vec4 eye;
    vec4 light;
    vec4 jitter;    // xy: this frame, zw: the one before
} view;

layout(push_constant) uniform Object {
    mat4 world;
    vec4 tint;
    int materialId;
    int flags;
} object;

layout(location = 0) out vec3 vPosition;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec4 vTangent;
layout(location = 3) out vec4 vUv;
layout(location = 4) out vec4 vColor;
layout(location = 5) out vec4 vNow;
layout(location = 6) out vec4 vBefore;
layout(location = 7) flat out ivec2 vIds;
layout(location = 8) out vec3 vToEye;
layout(location = 9) out float vViewDepth;

vec3 unitOr(vec3 v, vec3 fallback)
{
    float squared = dot(v, v);
    if (squared < 1e-8)
        return fallback;
    return v * inversesqrt(squared);
}

void main()
{
    vec4 world = object.world * vec4(inPosition, 1.0);
    mat3 turn = mat3(object.world);
    vec4 clip = view.viewProjection * world;
    vec4 before = view.lastViewProjection * world;

    vPosition = world.xyz;
    vNormal = unitOr(turn * inNormal, vec3(0.0, 1.0, 0.0));
    vTangent.xyz = unitOr(turn * inTangent.xyz, vec3(1.0, 0.0, 0.0));
    vTangent.w = inTangent.w > 0.0 ? 1.0 : -1.0;
    vUv.xy = inUv;
    vUv.zw = inUv2 * 0.5 + 0.5;
    vColor = inColor * 0.5 + 0.5;
    if ((object.flags & 1) != 0)
        vColor *= 0.5 + 0.5 * abs(object.tint);
    vNow = clip;
    vBefore = before;
    vIds = ivec2(object.materialId, object.flags);
    vToEye = view.eye.xyz + vec3(0.0, 0.0, 3.0) - world.xyz;
    vViewDepth = clip.w;

    clip.xy += view.jitter.xy * 0.002 * clip.w;
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
