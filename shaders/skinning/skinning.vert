#version 450
// Four-bone skinning with a palette in a storage buffer; positions of this and the last frame.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec3 inTangent;
layout(location = 3) in vec2 inUv;
layout(location = 4) in uvec4 inBones;
layout(location = 5) in vec4 inWeights;

layout(set = 0, binding = 0, std140) uniform Character {
    mat4 viewProjection;
    mat4 previousViewProjection;
    vec4 teamColor;
    vec4 hitPoint;       // xyz: where, w: how hard
    int boneCount;
    int highlighted;
} character;
layout(set = 0, binding = 1, std140) uniform Bones { mat4 bones[16]; };
layout(set = 0, binding = 2, std140) uniform OldBones { mat4 oldBones[16]; };

layout(location = 0) out vec3 vPosition;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec3 vTangent;
layout(location = 3) out vec2 vUv;
layout(location = 4) out vec4 vMotion;       // xy: now, zw: before, in screen space
layout(location = 5) out vec4 vTeam;
layout(location = 6) out float vHit;
layout(location = 7) flat out int vHighlight;
layout(location = 8) out vec4 vBoneDebug;

struct Skinned {
    vec3 position;
    vec3 normal;
    vec3 tangent;
};

vec4 normalizedWeights()
{
    vec4 w = abs(inWeights) + vec4(0.01, 0.0, 0.0, 0.0);
    return w / (w.x + w.y + w.z + w.w);
}

mat4 blended(uvec4 which, vec4 weights)
{
    return bones[which.x] * weights.x + bones[which.y] * weights.y
         + bones[which.z] * weights.z + bones[which.w] * weights.w;
}

Skinned skin(mat4 pose)
{
    Skinned s;
    s.position = (pose * vec4(inPosition, 1.0)).xyz;
    s.normal = mat3(pose) * inNormal;
    s.tangent = mat3(pose) * inTangent;
    return s;
}

void main()
{
    uint last = uint(clamp(character.boneCount, 1, 16) - 1);
    uvec4 which = min(inBones, uvec4(last));
    vec4 weights = normalizedWeights();
    Skinned now = skin(blended(which, weights));

    vec3 old = vec3(0.0);
    for (int i = 0; i < 4; ++i) {
        if (weights[i] < 0.05)
            continue;
        old += (oldBones[which[i]] * vec4(inPosition, 1.0)).xyz * weights[i];
    }

    vec4 clip = character.viewProjection * vec4(now.position, 1.0);
    vec4 before = character.previousViewProjection * vec4(old, 1.0);
    vPosition = now.position;
    vNormal = now.normal;
    vTangent = now.tangent;
    vUv = inUv;
    vMotion = vec4(clip.xy / max(clip.w, 0.05), before.xy / max(before.w, 0.05));
    vTeam = vec4(abs(character.teamColor.rgb), 1.0);
    vec3 toHit = now.position - character.hitPoint.xyz;
    vHit = exp(-4.0 * dot(toHit, toHit)) * character.hitPoint.w;
    vHighlight = character.highlighted;
    vBoneDebug = vec4(which) / 16.0;
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
