// The HLSL twin of sun_shadow.frag.

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

[[vk::binding(1, 0)]] Texture2D albedoMap;
[[vk::binding(2, 0)]] Texture2D shadowMap;
[[vk::binding(3, 0)]] Texture2D cloudMap;
[[vk::binding(4, 0)]] SamplerState mapSampler;

struct Varyings {
    [[vk::location(0)]] float3 world : TEXCOORD0;
    [[vk::location(1)]] float3 offset : TEXCOORD1;
    [[vk::location(2)]] float2 uv : TEXCOORD2;
};

float3 shadowCoordinate(float3 world)
{
    float4 light = mul(shadowFromWorld, float4(world, 1.0));
    return mul(shadowBias, light).xyz;
}

float lit(float2 at, float depth)
{
    float stored = shadowMap.Sample(mapSampler, at).r;
    return smoothstep(-0.3, 0.3, stored - depth);
}

float4 main(Varyings input) : SV_Target0
{
    float3 coordinate = shadowCoordinate(input.world + input.offset);
    float shadow = 0.0;
    for (int i = 0; i < 4; ++i) {
        float2 tap = float2(float(i & 1) - 0.5, float(i >> 1) - 0.5) * 0.02;
        shadow += 0.25 * lit(coordinate.xy + tap, coordinate.z);
    }
    float2 clouds = coordinate.xy * cloudScroll.zw + cloudScroll.xy;
    shadow *= 0.5 + 0.5 * cloudMap.Sample(mapSampler, clouds).g;
    float3 albedo = albedoMap.Sample(mapSampler, input.uv).rgb;
    return float4(albedo * (0.15 + abs(sunColor.rgb) * shadow), 1.0);
}
