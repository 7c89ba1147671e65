// The HLSL twin of skinning.frag.

[[vk::binding(3, 0)]] Texture2D bodyMap;
[[vk::binding(4, 0)]] Texture2D maskMap;
[[vk::binding(5, 0)]] SamplerState bodySampler;

struct Varyings {
    [[vk::location(0)]] float3 position : TEXCOORD0;
    [[vk::location(1)]] float3 normal : TEXCOORD1;
    [[vk::location(3)]] float2 uv : TEXCOORD3;
    [[vk::location(5)]] float4 team : TEXCOORD5;
    [[vk::location(6)]] float hit : TEXCOORD6;
    [[vk::location(7)]] nointerpolation int highlight : TEXCOORD7;
};

float3 unit(float3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * rsqrt(squared) : float3(0.0, 0.0, 1.0);
}

float hemisphere(float3 n)
{
    return 0.55 + 0.45 * n.z + 0.1 * n.y;
}

float4 main(Varyings input) : SV_Target0
{
    float3 n = unit(input.normal);
    float3 body = bodyMap.Sample(bodySampler, input.uv).rgb;
    float mask = maskMap.Sample(bodySampler, input.uv).r;
    float3 color = lerp(body, body * input.team.rgb * 1.5, mask) * hemisphere(n);
    color += float3(1.0, 0.3, 0.2) * clamp(input.hit, 0.0, 1.0);
    if (input.highlight > 0) {
        float rim = 1.0 - abs(n.z);
        color = lerp(color, float3(1.0, 0.9, 0.3), rim * 0.7);
    }
    color *= 0.9 + 0.1 * cos(input.position.y * 20.0);
    return float4(color, input.team.a);
}
