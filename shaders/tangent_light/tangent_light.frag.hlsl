// The HLSL twin of tangent_light.frag.

[[vk::binding(0, 0)]] cbuffer Lights
{
    float4x4 viewProjection;
    float4 sunDirection;
    float4 sunColor;
    float4 ambient;
};

[[vk::binding(1, 0)]] Texture2D albedoMap;
[[vk::binding(2, 0)]] Texture2D normalMap;
[[vk::binding(3, 0)]] SamplerState mapSampler;

struct Varyings {
    [[vk::location(0)]] float3 tangent : TEXCOORD0;
    [[vk::location(1)]] float3 bitangent : TEXCOORD1;
    [[vk::location(2)]] float3 normal : TEXCOORD2;
    [[vk::location(3)]] float2 uv : TEXCOORD3;
};

float3 unit(float3 v)
{
    return v / max(length(v), 1e-2);
}

float4 main(Varyings input) : SV_Target0
{
    float3x3 frame = float3x3(input.tangent, input.bitangent, input.normal);
    float3 toSun = mul(frame, sunDirection.xyz);
    float3 bump = normalMap.Sample(mapSampler, input.uv).xyz * 2.0 - 1.0;
    bump = unit(bump + float3(0.0, 0.0, 1.25));
    float light = max(dot(bump, unit(toSun + float3(0.0, 0.0, 0.25))), 0.0);
    float3 albedo = albedoMap.Sample(mapSampler, input.uv).rgb;
    float3 color = albedo * (0.2 * abs(ambient.rgb) + abs(sunColor.rgb) * light);
    return float4(color, 1.0);
}
