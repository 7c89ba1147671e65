// The HLSL twin of ui_quad.frag.

[[vk::binding(1, 0)]] Texture2D image;
[[vk::binding(2, 0)]] SamplerState imageSampler;

struct Varyings {
    [[vk::location(0)]] float4 localPage : TEXCOORD0;
    [[vk::location(1)]] float4 color : TEXCOORD1;
    [[vk::location(2)]] nointerpolation float4 borderColor : TEXCOORD2;
    [[vk::location(3)]] nointerpolation float3 radiusBorderOpacity : TEXCOORD3;
    [[vk::location(4)]] nointerpolation uint2 flagsTexture : TEXCOORD4;
    [[vk::location(5)]] nointerpolation float4 clipRect : TEXCOORD5;
    [[vk::location(6)]] float4 gradient : TEXCOORD6;
};

static const uint HAS_IMAGE = 1u;
static const uint HAS_GRADIENT = 2u;

float roundedBox(float2 p, float2 size, float radius)
{
    float2 q = abs(p) - size + radius;
    return length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - radius;
}

float4 main(Varyings input) : SV_Target0
{
    float2 local = input.localPage.xy;
    float2 page = input.localPage.zw;
    float4 texel = image.Sample(imageSampler, local * 0.5 + 0.5);
    if (any(page < input.clipRect.xy) || any(page > input.clipRect.zw))
        return float4(0.0, 0.0, 0.0, 0.0);
    float border = input.radiusBorderOpacity.y;
    float distance = roundedBox(local, float2(0.9, 0.9), input.radiusBorderOpacity.x);
    float4 fill = input.color;
    if ((input.flagsTexture.x & HAS_GRADIENT) != 0u)
        fill = input.gradient;
    if ((input.flagsTexture.x & HAS_IMAGE) != 0u)
        fill *= texel;
    float inside = 1.0 - smoothstep(-0.02, 0.02, distance);
    float rim = smoothstep(-border - 0.02, -border + 0.02, distance);
    float4 color = lerp(fill, input.borderColor, rim);
    color.a *= inside * input.radiusBorderOpacity.z;
    return float4(color.rgb * color.a, color.a);
}
