// The HLSL twin of sprite_batch.frag.

[[vk::binding(0, 0)]] Texture2D atlas;
[[vk::binding(1, 0)]] SamplerState atlasSampler;

struct Varyings {
    [[vk::location(0)]] float2 uv : TEXCOORD0;
    [[vk::location(1)]] float4 color : TEXCOORD1;
    [[vk::location(2)]] float4 tint : TEXCOORD2;
    [[vk::location(3)]] float4 glow : TEXCOORD3;
    [[vk::location(4)]] float2 pulse : TEXCOORD4;
    [[vk::location(5)]] nointerpolation uint2 flags : TEXCOORD5;
    [[vk::location(6)]] nointerpolation float outline : TEXCOORD6;
};

static const uint GRAYSCALE = 1u;
static const uint OUTLINED = 2u;

float2 pageUv(float2 uv, uint page)
{
    float2 corner = float2(float(page & 1u), float((page >> 1) & 1u));
    return (frac(uv) + corner) * 0.5;
}

float outlineOf(float2 uv, float width)
{
    float2 inside = min(frac(uv), 1.0 - frac(uv));
    return 1.0 - smoothstep(width * 0.8, width, min(inside.x, inside.y));
}

float4 main(Varyings input) : SV_Target0
{
    float4 texel = atlas.SampleLevel(atlasSampler, pageUv(input.uv, input.flags.y), 0.0);
    float4 color = texel * input.color * input.tint;
    if ((input.flags.x & GRAYSCALE) != 0u) {
        float gray = dot(color.rgb, float3(0.3, 0.59, 0.11));
        color.rgb = float3(gray, gray, gray);
    }
    color.rgb += input.glow.rgb * input.pulse.x * 0.5 + input.pulse.y * 0.1;
    float strength = (input.flags.x & OUTLINED) != 0u ? 1.0 : 0.25;
    color.rgb = lerp(color.rgb, input.tint.bgr, strength * outlineOf(input.uv, input.outline));
    color.a = clamp(color.a + 0.1 * input.glow.a, 0.3, 1.0);
    return float4(clamp(color.rgb, 0.0, 1.0) * color.a, color.a);
}
