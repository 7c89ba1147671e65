// The HLSL twin of the post-processing vertex shader. The taps are four members, not an array:
// glslang gives every element of a flattened HLSL array the same Location.

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

struct Varyings {
    [[vk::location(0)]] float2 uv : TEXCOORD0;
    [[vk::location(1)]] float4 taps0 : TEXCOORD1;
    [[vk::location(2)]] float4 taps1 : TEXCOORD2;
    [[vk::location(3)]] float4 taps2 : TEXCOORD3;
    [[vk::location(4)]] float4 taps3 : TEXCOORD4;
    [[vk::location(5)]] nointerpolation float2 texel : TEXCOORD5;
    [[vk::location(6)]] nointerpolation float exposureFactor : TEXCOORD6;
    [[vk::location(7)]] float2 centered : TEXCOORD7;
    [[vk::location(8)]] float4 noiseUv : TEXCOORD8;
    float4 position : SV_Position;
};

static const float2 TEXEL = float2(1.0 / 64.0, 1.0 / 64.0);

Varyings main(uint vertex : SV_VertexID)
{
    Varyings output;
    uint corner = vertex % 3u;
    float2 uv = float2(corner == 1u ? 2.0 : 0.0, corner == 2u ? 2.0 : 0.0);
    output.uv = uv;
    output.taps0 = uv.xyxy + float4(-TEXEL.x, 0.0, TEXEL.x, 0.0);
    output.taps1 = uv.xyxy + float4(0.0, -TEXEL.y, 0.0, TEXEL.y);
    output.taps2 = uv.xyxy + float4(-TEXEL, TEXEL);
    output.taps3 = uv.xyxy + float4(TEXEL.x, -TEXEL.y, -TEXEL.x, TEXEL.y);
    output.texel = TEXEL;
    output.exposureFactor = exp2(exposure);
    output.centered = uv - 0.5;
    output.noiseUv = float4(uv * 4.0 + frac(time), uv * 2.0);
    output.position = float4(uv * 2.0 - 1.0, 0.0, 1.0);
    return output;
}
