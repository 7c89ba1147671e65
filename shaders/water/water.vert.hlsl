// The HLSL twin of water.vert.

[[vk::binding(0, 0)]] cbuffer Water
{
    float4x4 viewProjection;
    float4x4 mirrorViewProjection;
    float4 waves[4];
    float4 eye;
    float4 shallow;
    float4 deep;
    float time;
    float foam;
};

struct Attributes {
    [[vk::location(0)]] float3 position : POSITION;
    [[vk::location(1)]] float2 uv : TEXCOORD0;
    [[vk::location(2)]] float4 flow : TEXCOORD1;
};

struct Varyings {
    [[vk::location(0)]] float3 position : TEXCOORD0;
    [[vk::location(1)]] float3 normal : TEXCOORD1;
    [[vk::location(2)]] float4 ripples : TEXCOORD2;
    [[vk::location(3)]] float4 screen : TEXCOORD3;
    [[vk::location(4)]] float4 mirror : TEXCOORD4;
    [[vk::location(5)]] float3 toEye : TEXCOORD5;
    [[vk::location(6)]] float4 flow : TEXCOORD6;
    [[vk::location(7)]] float crest : TEXCOORD7;
    [[vk::location(8)]] float4 shallowColor : TEXCOORD8;
    [[vk::location(9)]] float4 deepColor : TEXCOORD9;
    float4 clipPosition : SV_Position;
};

void addWave(float4 w, float2 p, inout float3 offset, inout float2 slope)
{
    float2 direction = w.xy / max(length(w.xy), 0.1);
    float frequency = 4.0 + 3.0 * abs(w.z);
    float phase = dot(direction, p) * frequency + time * 3.0;
    float height = 0.03 * (0.5 + abs(w.w));
    offset += float3(direction * cos(phase), sin(phase)) * height;
    slope += direction * (frequency * height * cos(phase));
}

Varyings main(Attributes input)
{
    Varyings output;
    float3 offset = float3(0.0, 0.0, 0.0);
    float2 slope = float2(0.0, 0.0);
    [unroll] for (int i = 0; i < 4; ++i)
        addWave(waves[i], input.position.xy, offset, slope);
    float3 position = input.position + offset;
    float3 mirrored = position * float3(1.0, 1.0, -1.0);
    float4 clip = mul(viewProjection, float4(position, 1.0));
    float4 mirror = mul(mirrorViewProjection, float4(mirrored, 1.0));

    output.position = position;
    output.normal = normalize(float3(-slope, 1.0));
    output.ripples.xy = input.uv * 2.0 + float2(time * 0.1, 0.0);
    output.ripples.zw = input.uv * 3.1 - float2(0.0, time * 0.13);
    output.screen = float4(clip.xy * 0.5 + 0.5 * clip.w, clip.zw);
    output.mirror = float4(mirror.xy * 0.5 + 0.5 * mirror.w, mirror.zw);
    output.toEye = eye.xyz + float3(0.0, 0.0, 2.0) - position;
    output.flow = input.flow;
    output.crest = offset.z * 10.0;
    output.shallowColor = float4(abs(shallow.rgb) * 0.5 + float3(0.1, 0.35, 0.35), 0.6);
    output.deepColor = float4(abs(deep.rgb) * 0.2 + float3(0.0, 0.05, 0.15), 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    output.clipPosition = clip;
    return output;
}
