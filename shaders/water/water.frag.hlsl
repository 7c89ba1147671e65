// The HLSL twin of water.frag.

[[vk::binding(1, 0)]] Texture2D rippleMap;
[[vk::binding(2, 0)]] Texture2D refraction;
[[vk::binding(3, 0)]] Texture2D reflection;
[[vk::binding(4, 0)]] SamplerState waterSampler;

struct Varyings {
    [[vk::location(1)]] float3 normal : TEXCOORD1;
    [[vk::location(2)]] float4 ripples : TEXCOORD2;
    [[vk::location(3)]] float4 screen : TEXCOORD3;
    [[vk::location(4)]] float4 mirror : TEXCOORD4;
    [[vk::location(5)]] float3 toEye : TEXCOORD5;
    [[vk::location(7)]] float crest : TEXCOORD7;
    [[vk::location(8)]] float4 shallowColor : TEXCOORD8;
    [[vk::location(9)]] float4 deepColor : TEXCOORD9;
};

float3 unit(float3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * rsqrt(squared) : float3(0.0, 0.0, 1.0);
}

float2 ripple(float4 uv)
{
    float2 a = rippleMap.Sample(waterSampler, uv.xy).xy;
    float2 b = rippleMap.Sample(waterSampler, uv.zw).xy;
    return a + b - 1.0;
}

float4 main(Varyings input) : SV_Target0
{
    float2 bend = ripple(input.ripples);
    float3 n = unit(input.normal + float3(bend * 0.4, 0.0));
    float3 eye = unit(input.toEye);
    float facing = clamp(dot(n, eye), 0.0, 1.0);
    float mirror = 0.02 + 0.98 * pow(1.0 - facing, 5.0);
    float2 below = input.screen.xy / max(input.screen.w, 0.05) + bend * 0.05;
    float2 above = input.mirror.xy / max(input.mirror.w, 0.05) + bend * 0.03;
    float3 tint = lerp(input.deepColor.rgb, input.shallowColor.rgb, facing);
    float3 under = refraction.Sample(waterSampler, below).rgb * tint * 2.0;
    float3 body = lerp(tint, under, input.shallowColor.a);
    float3 color = lerp(body, reflection.Sample(waterSampler, above).rgb, mirror);
    float foam = smoothstep(0.5, 1.0, input.crest + bend.x);
    return float4(lerp(color, float3(0.95, 0.95, 0.95), foam), lerp(0.8, 1.0, max(foam, mirror)));
}
