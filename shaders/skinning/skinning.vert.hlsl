// The HLSL twin of skinning.vert.

[[vk::binding(0, 0)]] cbuffer Character
{
    float4x4 viewProjection;
    float4x4 previousViewProjection;
    float4 teamColor;
    float4 hitPoint;
    int boneCount;
    int highlighted;
};
[[vk::binding(1, 0)]] cbuffer Bones { float4x4 bones[16]; };
[[vk::binding(2, 0)]] cbuffer OldBones { float4x4 oldBones[16]; };

struct Attributes {
    [[vk::location(0)]] float3 position : POSITION;
    [[vk::location(1)]] float3 normal : NORMAL;
    [[vk::location(2)]] float3 tangent : TANGENT;
    [[vk::location(3)]] float2 uv : TEXCOORD0;
    [[vk::location(4)]] uint4 bones : BLENDINDICES;
    [[vk::location(5)]] float4 weights : BLENDWEIGHT;
};

struct Varyings {
    [[vk::location(0)]] float3 position : TEXCOORD0;
    [[vk::location(1)]] float3 normal : TEXCOORD1;
    [[vk::location(2)]] float3 tangent : TEXCOORD2;
    [[vk::location(3)]] float2 uv : TEXCOORD3;
    [[vk::location(4)]] float4 motion : TEXCOORD4;
    [[vk::location(5)]] float4 team : TEXCOORD5;
    [[vk::location(6)]] float hit : TEXCOORD6;
    [[vk::location(7)]] nointerpolation int highlight : TEXCOORD7;
    [[vk::location(8)]] float4 boneDebug : TEXCOORD8;
    float4 clipPosition : SV_Position;
};

float4x4 blended(uint4 which, float4 w)
{
    return bones[which.x] * w.x + bones[which.y] * w.y
         + bones[which.z] * w.z + bones[which.w] * w.w;
}

float3 oldPosition(float3 position, uint4 which, float4 weights)
{
    float3 sum = float3(0.0, 0.0, 0.0);
    for (int i = 0; i < 4; ++i) {
        if (weights[i] < 0.05)
            continue;
        sum += mul(oldBones[which[i]], float4(position, 1.0)).xyz * weights[i];
    }
    return sum;
}

Varyings main(Attributes input)
{
    uint last = uint(clamp(boneCount, 1, 16) - 1);
    uint4 which = min(input.bones, uint4(last, last, last, last));
    float4 weights = abs(input.weights) + float4(0.01, 0.0, 0.0, 0.0);
    weights /= weights.x + weights.y + weights.z + weights.w;
    float4x4 pose = blended(which, weights);
    float3 now = mul(pose, float4(input.position, 1.0)).xyz;
    float3 old = oldPosition(input.position, which, weights);
    float4 clip = mul(viewProjection, float4(now, 1.0));
    float4 before = mul(previousViewProjection, float4(old, 1.0));
    float3 toHit = now - hitPoint.xyz;

    Varyings output;
    output.position = now;
    output.normal = mul((float3x3)pose, input.normal);
    output.tangent = mul((float3x3)pose, input.tangent);
    output.uv = input.uv;
    output.motion = float4(clip.xy / max(clip.w, 0.05), before.xy / max(before.w, 0.05));
    output.team = float4(abs(teamColor.rgb), 1.0);
    output.hit = exp(-4.0 * dot(toHit, toHit)) * hitPoint.w;
    output.highlight = highlighted;
    output.boneDebug = float4(which) / 16.0;
    clip.z = 0.5 * (clip.z + clip.w);
    output.clipPosition = clip;
    return output;
}
