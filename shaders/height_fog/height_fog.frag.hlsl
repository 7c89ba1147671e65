// The HLSL twin of height_fog.frag.

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

[[vk::binding(1, 0)]] Texture2D groundMap;
[[vk::binding(2, 0)]] SamplerState groundSampler;

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
};

float fogAmount(Varyings input, float height, float depth)
{
    float top = max(abs(input.fogHeightExposure.y), 0.1);
    float above = max(height - (input.fogHeightExposure.x - 1.0), 0.0) / top;
    float thickness = input.fogDensity.x * exp(-input.fogDensity.y * above);
    float travelled = max(depth - 0.1 * input.fogDensity.z, 0.0);
    return min(1.0 - exp(-thickness * travelled * 4.0), clamp(0.5 * input.fogDensity.w, 0.0, 0.9));
}

float4 main(Varyings input) : SV_Target0
{
    float3 albedo = groundMap.Sample(groundSampler, input.uv).rgb;
    float3 normal = input.normal / max(length(input.normal), 1e-3);
    float3 light = input.sunColor * max(dot(normal, input.sunDirectionPulse.xyz), 0.0);
    float3 ambient = 0.2 + 0.1 * sunColor.rgb;
    float window = 0.5 + 0.5 * sin(dot(input.windowAxis, input.world) * 9.0);
    float3 color = albedo * (light + ambient) * lerp(0.8, 1.0, window);
    float fog = fogAmount(input, input.world.y, 0.5 + input.world.z);
    color = lerp(color, input.fogColor.rgb * input.sunDirectionPulse.w, fog);
    float3 shown = 1.0 - exp(-color * (0.5 + abs(input.fogHeightExposure.z)));
    return float4(shown, clamp(input.fogColor.a, 0.0, 1.0));
}
