// The HLSL twin of tangent_light.vert: same interface, same block.

[[vk::binding(0, 0)]] cbuffer Lights
{
    float4x4 viewProjection;
    float4 sunDirection;
    float4 sunColor;
    float4 ambient;
};

struct Attributes {
    [[vk::location(0)]] float3 position : POSITION;
    [[vk::location(1)]] float3 normal : NORMAL;
    [[vk::location(2)]] float4 tangent : TANGENT;
    [[vk::location(3)]] float2 uv : TEXCOORD0;
};

struct Varyings {
    [[vk::location(0)]] float3 tangent : TEXCOORD0;
    [[vk::location(1)]] float3 bitangent : TEXCOORD1;
    [[vk::location(2)]] float3 normal : TEXCOORD2;
    [[vk::location(3)]] float2 uv : TEXCOORD3;
    float4 position : SV_Position;
};

Varyings main(Attributes input)
{
    Varyings output;
    float3 normal = normalize(input.normal + float3(0.0, 0.0, 1.5));
    float3 tangent = normalize(input.tangent.xyz + float3(1.5, 0.0, 0.0));
    float side = input.tangent.w > 1.0 ? 1.0 : -1.0;
    output.tangent = tangent;
    output.bitangent = cross(normal, tangent) * side;
    output.normal = normal;
    output.uv = input.uv;
    float4 clip = mul(viewProjection, float4(input.position, 1.0));
    clip.z = 0.5 * (clip.z + clip.w);
    output.position = clip;
    return output;
}
