// The HLSL twin of the shared mesh vertex shader; the object's data are push constants, as there.

[[vk::binding(0, 0)]] cbuffer View
{
    float4x4 viewProjection;
    float4x4 lastViewProjection;
    float4 eye;
    float4 light;
    float4 jitter;
};

struct Object {
    float4x4 world;
    float4 tint;
    int materialId;
    int flags;
};
[[vk::push_constant]] cbuffer ObjectBlock { Object object; };

struct Attributes {
    [[vk::location(0)]] float3 position : POSITION;
    [[vk::location(1)]] float3 normal : NORMAL;
    [[vk::location(2)]] float4 tangent : TANGENT;
    [[vk::location(3)]] float2 uv : TEXCOORD0;
    [[vk::location(4)]] float2 uv2 : TEXCOORD1;
    [[vk::location(5)]] float4 color : COLOR0;
};

struct Varyings {
    [[vk::location(0)]] float3 position : TEXCOORD0;
    [[vk::location(1)]] float3 normal : TEXCOORD1;
    [[vk::location(2)]] float4 tangent : TEXCOORD2;
    [[vk::location(3)]] float4 uv : TEXCOORD3;
    [[vk::location(4)]] float4 color : TEXCOORD4;
    [[vk::location(5)]] float4 now : TEXCOORD5;
    [[vk::location(6)]] float4 before : TEXCOORD6;
    [[vk::location(7)]] nointerpolation int2 ids : TEXCOORD7;
    [[vk::location(8)]] float3 toEye : TEXCOORD8;
    [[vk::location(9)]] float viewDepth : TEXCOORD9;
};

float3 unitOr(float3 v, float3 fallback)
{
    float squared = dot(v, v);
    if (squared < 1e-8)
        return fallback;
    return v * rsqrt(squared);
}

void main(in Attributes input, out Varyings output, out float4 clipPosition : SV_Position)
{
    float4 world = mul(object.world, float4(input.position, 1.0));
    float3x3 turn = (float3x3)object.world;
    float4 clip = mul(viewProjection, world);

    output.position = world.xyz;
    output.normal = unitOr(mul(turn, input.normal), float3(0.0, 1.0, 0.0));
    output.tangent.xyz = unitOr(mul(turn, input.tangent.xyz), float3(1.0, 0.0, 0.0));
    output.tangent.w = input.tangent.w > 0.0 ? 1.0 : -1.0;
    output.uv = float4(input.uv, input.uv2 * 0.5 + 0.5);
    output.color = input.color * 0.5 + 0.5;
    if ((object.flags & 1) != 0)
        output.color *= 0.5 + 0.5 * abs(object.tint);
    output.now = clip;
    output.before = mul(lastViewProjection, world);
    output.ids = int2(object.materialId, object.flags);
    output.toEye = eye.xyz + float3(0.0, 0.0, 3.0) - world.xyz;
    output.viewDepth = clip.w;

    clip.xy += jitter.xy * 0.002 * clip.w;
    clip.z = 0.5 * (clip.z + clip.w);
    clipPosition = clip;
}
