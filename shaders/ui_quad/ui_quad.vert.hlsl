// The HLSL twin of ui_quad.vert; HLSL has no component numbers, so the scalars are vectors here.

[[vk::binding(0, 0)]] cbuffer Ui
{
    float4x4 projection;
    float4 theme;
    float4 clip;
    float opacity;
    float scale;
    int frame;
};

struct Attributes {
    [[vk::location(0)]] float2 position : POSITION;
    [[vk::location(1)]] float2 local : TEXCOORD0;
    [[vk::location(2)]] float4 color : COLOR0;
    [[vk::location(3)]] float4 border : COLOR1;
    [[vk::location(4)]] uint flags : TEXCOORD1;
};

struct Varyings {
    [[vk::location(0)]] float4 localPage : TEXCOORD0;
    [[vk::location(1)]] float4 color : TEXCOORD1;
    [[vk::location(2)]] nointerpolation float4 borderColor : TEXCOORD2;
    [[vk::location(3)]] nointerpolation float3 radiusBorderOpacity : TEXCOORD3;
    [[vk::location(4)]] nointerpolation uint2 flagsTexture : TEXCOORD4;
    [[vk::location(5)]] nointerpolation float4 clipRect : TEXCOORD5;
    [[vk::location(6)]] float4 gradient : TEXCOORD6;
    float4 position : SV_Position;
};

Varyings main(Attributes input)
{
    Varyings output;
    output.localPage = float4(input.local, input.position);
    output.color = float4(abs(input.color.rgb), 0.9);
    output.borderColor = float4(abs(input.border.rgb), 1.0);
    output.radiusBorderOpacity.x = 0.1 + 0.3 * abs(input.border.a);
    output.radiusBorderOpacity.y = 0.05 + 0.05 * abs(scale);
    output.radiusBorderOpacity.z = 0.5 + 0.5 * clamp(opacity, 0.0, 1.0);
    output.flagsTexture = uint2(input.flags & 7u, (input.flags >> 3) & 15u);
    output.clipRect = float4(-0.95, -0.95, 0.95, 0.95) + 0.1 * clip;
    output.gradient = lerp(output.color, abs(theme), input.local.y * 0.5 + 0.5);
    float4 p = mul(projection, float4(input.position, 0.0, 1.0));
    output.position = float4(p.xy, 0.5 * p.w, p.w);
    return output;
}
