// The HLSL twin of material.vert: same interface, same resources.

cbuffer Frame : register(b0)
{
    float4x4 viewProjection;
    float4x4 previousViewProjection;
    float4x4 shadowFromWorld;
    float4x4 model;
    float4 cameraPosition;
    float4 sunDirection;
    float4 sunColor;
    float4 baseTint;
};

struct Attributes {
    [[vk::location(0)]] float3 position : POSITION;
    [[vk::location(1)]] float3 normal : NORMAL;
    [[vk::location(2)]] float4 tangent : TANGENT;
    [[vk::location(3)]] float2 uv : TEXCOORD0;
    [[vk::location(4)]] float4 color : COLOR0;
};

struct Varyings {
    [[vk::location(0)]] float3 worldPosition : TEXCOORD0;
    [[vk::location(1)]] float3 normal : TEXCOORD1;
    [[vk::location(2)]] float4 tangent : TEXCOORD2;
    [[vk::location(3)]] float3 bitangent : TEXCOORD3;
    [[vk::location(4)]] float4 uv : TEXCOORD4;
    [[vk::location(5)]] float4 color : TEXCOORD5;
    [[vk::location(6)]] float3 viewVector : TEXCOORD6;
    [[vk::location(7)]] float4 shadowPosition : TEXCOORD7;
    [[vk::location(8)]] float4 clip : TEXCOORD8;
    [[vk::location(9)]] float4 previousClip : TEXCOORD9;
    [[vk::location(10)]] float4 fog : TEXCOORD10;
    [[vk::location(11)]] nointerpolation uint material : TEXCOORD11;
    [[vk::location(12)]] float4 tint : TEXCOORD12;
    [[vk::location(13)]] float3 shadingNormal : TEXCOORD13;
    float4 position : SV_Position;
};

float3 unit(float3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * rsqrt(squared) : float3(0.0, 0.0, 1.0);
}

float4 toClip(float4x4 transform, float3 world)
{
    float4 clip = mul(transform, float4(world, 1.0));
    clip.z = 0.5 * (clip.z + clip.w);
    return clip;
}

Varyings main(Attributes input)
{
    Varyings output;
    float3 world = mul(model, float4(input.position, 1.0)).xyz;
    float3x3 rotation = (float3x3)model;
    float3 normal = unit(mul(rotation, input.normal) + float3(0.0, 0.0, 1.2));
    float3 tangent = unit(mul(rotation, input.tangent.xyz) + float3(1.2, 0.0, 0.0));
    float handedness = input.tangent.w < 0.0 ? -1.0 : 1.0;

    output.worldPosition = world;
    output.normal = normal;
    output.tangent = float4(tangent, handedness);
    output.bitangent = cross(normal, tangent) * handedness;
    output.uv = float4(input.uv * 1.5, input.uv * 0.5 + 0.5);
    output.color = float4(0.8 + 0.2 * input.color.rgb, input.color.a);
    output.viewVector = cameraPosition.xyz + float3(0.0, 0.0, 2.5) - world;
    float4 shadow = mul(shadowFromWorld, float4(world + normal * 0.02, 1.0));
    output.shadowPosition = float4(shadow.xyz * 0.5 + 0.5 * shadow.w, shadow.w);
    float4 clip = toClip(viewProjection, world);
    output.clip = clip;
    output.previousClip = toClip(previousViewProjection, world);
    output.fog = float4(0.58, 0.68, 0.82, 0.08);
    output.material = 2u;
    output.tint = baseTint;
    output.shadingNormal = normal;
    output.position = clip;
    return output;
}
