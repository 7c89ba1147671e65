// The HLSL twin of sun_shadow.vert: same interface, same block.

[[vk::binding(0, 0)]] cbuffer Sun
{
    float4x4 viewProjection;
    float4x4 shadowFromWorld;
    float4x4 shadowBias;
    float4 sunDirection;
    float4 sunColor;
    float4 cloudScroll;
    float normalOffset;
};

struct Attributes {
    [[vk::location(0)]] float3 position : POSITION;
    [[vk::location(1)]] float3 normal : NORMAL;
    [[vk::location(2)]] float2 uv : TEXCOORD0;
};

struct Varyings {
    [[vk::location(0)]] float3 world : TEXCOORD0;
    [[vk::location(1)]] float3 offset : TEXCOORD1;
    [[vk::location(2)]] float2 uv : TEXCOORD2;
    float4 position : SV_Position;
};

Varyings main(Attributes input)
{
    Varyings output;
    output.world = input.position;
    output.offset = input.normal * normalOffset * 0.1;
    output.uv = input.uv;
    float4 clip = mul(viewProjection, float4(input.position, 1.0));
    clip.z = 0.5 * (clip.z + clip.w);
    output.position = clip;
    return output;
}
