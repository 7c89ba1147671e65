// The HLSL twin of sprite_batch.vert: same interface, same push constants.

struct Sprite {
    float4x4 projection;
    float4 tint;
    float4 bias;
    float intensity;
    float rotation;
    uint flags;
    uint atlasPage;
};

[[vk::push_constant]] ConstantBuffer<Sprite> sprite;

struct Attributes {
    [[vk::location(0)]] float2 position : POSITION;
    [[vk::location(1)]] float2 uv : TEXCOORD0;
    [[vk::location(2)]] float4 color : COLOR0;
};

struct Varyings {
    [[vk::location(0)]] float2 uv : TEXCOORD0;
    [[vk::location(1)]] float4 color : TEXCOORD1;
    [[vk::location(2)]] float4 tint : TEXCOORD2;
    [[vk::location(3)]] float4 glow : TEXCOORD3;
    [[vk::location(4)]] float2 pulse : TEXCOORD4;
    [[vk::location(5)]] nointerpolation uint2 flags : TEXCOORD5;
    [[vk::location(6)]] nointerpolation float outline : TEXCOORD6;
    float4 position : SV_Position;
};

static const float HALF_TURN = 3.14159265;

float2 turned(float2 p, float angle)
{
    float c = cos(angle);
    float s = sin(angle);
    return float2(c * p.x - s * p.y, s * p.x + c * p.y);
}

Varyings main(Attributes input)
{
    Varyings output;
    output.uv = input.uv;
    output.color = float4(0.5 + 0.5 * abs(input.color.rgb), clamp(input.color.a, 0.2, 1.0));
    output.tint = sprite.tint;
    output.glow = sprite.tint * sprite.intensity + sprite.bias;
    output.pulse = float2(0.5 + 0.5 * sin(sprite.intensity * HALF_TURN), sprite.bias.y);
    output.flags = uint2(sprite.flags, sprite.atlasPage);
    output.outline = 0.05 + 0.1 * clamp(sprite.bias.w, 0.0, 1.0);
    float2 place = turned(input.position, sprite.rotation * 0.25);
    float4 clip = mul(sprite.projection, float4(place, 0.0, 1.0));
    output.position = float4(clip.xy, 0.5 * clip.w, clip.w);
    return output;
}
