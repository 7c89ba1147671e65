// The HLSL twin of height_fog.vert: same interface, same block.

[[vk::binding(0, 0)]] cbuffer Frame
{
    float4x4 viewProjection;
    float4x4 windowFromWorld;
    float4 sunDirection;
    float4 sunColor;
    float4 fogColor;
    float4 fogDensity;
    float4 fogHeight;
    float time;
    float exposure;
};

struct Attributes {
    [[vk::location(0)]] float3 position : POSITION;
    [[vk::location(1)]] float3 normal : NORMAL;
    [[vk::location(2)]] float2 uv : TEXCOORD0;
};

// HLSL has no component numbers, so what shares a Location is one vector here.
struct Varyings {
    [[vk::location(0)]] float3 world : TEXCOORD0;
    [[vk::location(1)]] float3 normal : TEXCOORD1;
    [[vk::location(2)]] float2 uv : TEXCOORD2;
    [[vk::location(3)]] float4 fogColor : TEXCOORD3;
    [[vk::location(4)]] float4 fogDensity : TEXCOORD4;
    [[vk::location(5)]] float3 fogHeightExposure : TEXCOORD5;
    [[vk::location(6)]] float4 sunDirectionPulse : TEXCOORD6;
    [[vk::location(7)]] float3 sunColor : TEXCOORD7;
    [[vk::location(8)]] float3 windowAxis : TEXCOORD8;
    float4 position : SV_Position;
};

float3 unit(float3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * rsqrt(squared) : float3(0.0, 0.0, 1.0);
}

float pulse(float seconds)
{
    return 0.75 + 0.25 * sin(seconds * 6.0);
}

Varyings main(Attributes input)
{
    Varyings output;
    float3 world = input.position;
    output.world = world;
    output.normal = unit(input.normal + float3(0.0, 0.0, 1.5));
    output.uv = input.uv;
    output.fogColor = fogColor;
    output.fogDensity = fogDensity;
    output.fogHeightExposure = float3(fogHeight.xy, exposure);
    float3 sun = normalize(sunDirection.xyz + float3(0.0, 0.0, 1.5));
    output.sunDirectionPulse = float4(sun, pulse(time));
    output.sunColor = sunColor.rgb * pulse(time) * (0.5 + exposure);
    output.windowAxis = mul(windowFromWorld, float4(0.0, 1.0, 0.0, 0.0)).xyz;
    float4 clip = mul(viewProjection, float4(world, 1.0));
    clip.z = 0.5 * (clip.z + clip.w);
    output.position = clip;
    return output;
}
