// The HLSL twin of gbuffer.frag: four targets from one struct.

[[vk::binding(0, 0)]] cbuffer View
{
    float4x4 viewProjection;
    float4x4 lastViewProjection;
    float4 eye;
    float4 light;
    float4 jitter;
};
[[vk::binding(1, 0)]] Texture2D baseMap;
[[vk::binding(2, 0)]] Texture2D normalMap;
[[vk::binding(3, 0)]] Texture2D ormMap;
[[vk::binding(4, 0)]] SamplerState surfaceSampler;

struct Varyings {
    [[vk::location(1)]] float3 normal : TEXCOORD1;
    [[vk::location(2)]] float4 tangent : TEXCOORD2;
    [[vk::location(3)]] float4 uv : TEXCOORD3;
    [[vk::location(4)]] float4 color : TEXCOORD4;
    [[vk::location(5)]] float4 now : TEXCOORD5;
    [[vk::location(6)]] float4 before : TEXCOORD6;
    [[vk::location(7)]] nointerpolation int2 ids : TEXCOORD7;
};

struct Targets {
    float4 albedo : SV_Target0;
    float4 normal : SV_Target1;
    float2 motion : SV_Target2;
    int4 material : SV_Target3;
};

float3 unit(float3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * rsqrt(squared) : float3(0.0, 0.0, 1.0);
}

float2 octahedral(float3 n)
{
    float sum = abs(n.x) + abs(n.y) + abs(n.z);
    float2 p = n.xy / max(sum, 1e-5);
    if (n.z >= 0.0)
        return p;
    float2 folded = 1.0 - abs(p.yx);
    return float2(p.x >= 0.0 ? folded.x : -folded.x, p.y >= 0.0 ? folded.y : -folded.y);
}

float2 screenMotion(float4 now, float4 before)
{
    float2 a = now.xy / max(now.w, 0.05);
    float2 b = before.xy / max(before.w, 0.05);
    return (a - b) - (jitter.xy - jitter.zw) * 0.002;
}

Targets main(Varyings input)
{
    Targets output;
    float2 uv = input.uv.xy;
    float4 base = baseMap.Sample(surfaceSampler, uv) * input.color;
    float3 orm = ormMap.Sample(surfaceSampler, uv).rgb;
    float3 normal = unit(input.normal);
    float3 tangent = unit(input.tangent.xyz - normal * dot(normal, input.tangent.xyz));
    float3 bitangent = cross(normal, tangent) * input.tangent.w;
    float2 slope = normalMap.Sample(surfaceSampler, uv).xy * 2.0 - 1.0;
    normal = unit(tangent * slope.x * 0.5 + bitangent * slope.y * 0.5 + normal);

    output.albedo = float4(base.rgb, orm.r);
    output.normal = float4(octahedral(normal) * 0.5 + 0.5, orm.g, orm.b);
    output.motion = screenMotion(input.now, input.before);
    output.material = int4(input.ids.x, input.ids.y & 0xff, 0, 1);
    return output;
}
