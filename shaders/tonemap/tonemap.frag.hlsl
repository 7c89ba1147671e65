// The HLSL twin of tonemap.frag.

[[vk::binding(0, 0)]] cbuffer Post
{
    float4 screen;
    float4 grading;
    float4 vignette;
    float exposure;
    float bloom;
    float time;
    int mode;
};
[[vk::binding(1, 0)]] Texture2D scene;
[[vk::binding(2, 0)]] Texture2D bloomMap;
[[vk::binding(3, 0)]] Texture3D gradingVolume;
[[vk::binding(4, 0)]] Texture2D noise;
[[vk::binding(5, 0)]] SamplerState linearSampler;

struct Varyings {
    [[vk::location(0)]] float2 uv : TEXCOORD0;
    [[vk::location(6)]] nointerpolation float exposureFactor : TEXCOORD6;
    [[vk::location(7)]] float2 centered : TEXCOORD7;
    [[vk::location(8)]] float4 noiseUv : TEXCOORD8;
};

float3 filmic(float3 x)
{
    float3 top = x * (2.3 * x + 0.05);
    float3 bottom = x * (2.2 * x + 0.6) + 0.15;
    return clamp(top / bottom, 0.0, 1.0);
}

float3 curve(float3 x)
{
    switch (mode & 3) {
    case 0:
        return filmic(x);
    case 1:
        return x / (1.0 + x);
    case 2:
        return clamp(x, 0.0, 1.0);
    default:
        break;
    }
    float luma = dot(x, float3(0.21, 0.72, 0.07));
    return x * (luma / (1.0 + luma) / max(luma, 1e-3));
}

float4 main(Varyings input) : SV_Target0
{
    float3 color = scene.Sample(linearSampler, input.uv).rgb;
    color += bloomMap.Sample(linearSampler, input.uv).rgb * 0.3 * abs(bloom);
    color = curve(max(color * input.exposureFactor, 0.0));
    float3 graded = gradingVolume.Sample(linearSampler, color * 0.9 + 0.05).rgb;
    color = lerp(color, graded, 0.25 + 0.25 * clamp(grading.x, 0.0, 1.0));
    float corner = dot(input.centered, input.centered);
    color *= 1.0 - corner * (0.5 + 0.5 * abs(vignette.x));
    float grain = noise.Sample(linearSampler, input.noiseUv.xy).r - 0.5;
    return float4(color + grain * 0.03, 1.0);
}
