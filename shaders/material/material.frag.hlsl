// The HLSL twin of material.frag, reading the same part of the interface.

cbuffer Frame : register(b0)
{
    float4x4 viewProjection;
    float4x4 previousViewProjection;
    float4x4 shadowFromWorld;
    float4x4 model;
    float4 cameraPosition;
    float4 sunDirection;
    float4 sunColor;
    float4 baseTint;
};

[[vk::binding(1, 0)]] Texture2D albedoMap;
[[vk::binding(2, 0)]] Texture2D normalMap;
[[vk::binding(3, 0)]] Texture2D surfaceMap;
[[vk::binding(4, 0)]] SamplerState linearSampler;

struct Varyings {
    [[vk::location(0)]] float3 worldPosition : TEXCOORD0;
    [[vk::location(1)]] float3 normal : TEXCOORD1;
    [[vk::location(2)]] float4 tangent : TEXCOORD2;
    [[vk::location(4)]] float4 uv : TEXCOORD4;
    [[vk::location(5)]] float4 color : TEXCOORD5;
    [[vk::location(6)]] float3 viewVector : TEXCOORD6;
    [[vk::location(10)]] float4 fog : TEXCOORD10;
    [[vk::location(11)]] nointerpolation uint material : TEXCOORD11;
    [[vk::location(12)]] float4 tint : TEXCOORD12;
    [[vk::location(13)]] float3 shadingNormal : TEXCOORD13;
};

struct Surface {
    float3 albedo;
    float3 normal;
    float roughness;
    float occlusion;
};

static const float PI = 3.14159265;

float3 unit(float3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * rsqrt(squared) : float3(0.0, 0.0, 1.0);
}

float2 tilePattern(float2 uv)
{
    float2 grid = uv * float2(2.0, 4.0);
    float row = floor(grid.y);
    grid.x += 0.5 * (row - 2.0 * floor(row * 0.5));
    float2 cell = floor(grid);
    float2 inside = abs(frac(grid) - 0.5);
    float edge = max(inside.x + 0.25, inside.y * 0.8 + 0.33);
    float tile = 1.0 - smoothstep(0.68, 0.73, edge);
    return float2(tile, frac(sin(dot(cell, float2(12.7, 39.3))) * 437.1));
}

float3 mappedNormal(float3 normal, float4 tangentFrame, float2 uv)
{
    float3 tangent = unit(tangentFrame.xyz - normal * dot(normal, tangentFrame.xyz));
    float3 bitangent = cross(normal, tangent) * tangentFrame.w;
    float2 slope = (normalMap.Sample(linearSampler, uv).xy * 2.0 - 1.0) * 0.15;
    return unit(tangent * slope.x + bitangent * slope.y + normal);
}

Surface readSurface(Varyings input)
{
    Surface surface;
    float2 uv = input.uv.xy;
    float2 tile = tilePattern(uv);
    float3 texel = albedoMap.Sample(linearSampler, uv).rgb;
    float3 glaze = lerp(float3(0.70, 0.20, 0.08), float3(0.08, 0.30, 0.48), tile.y);
    float3 paint = glaze * (0.8 + 0.4 * texel) * input.color.rgb * 1.3;
    surface.albedo = lerp(float3(0.16, 0.14, 0.12), paint, tile.x);
    if (input.material == 2u)
        surface.albedo *= 1.0 + 0.12 * input.tint.rgb;
    float3 detail = surfaceMap.Sample(linearSampler, uv).rgb;
    surface.roughness = clamp(lerp(0.9, 0.25 + 0.35 * detail.g, tile.x), 0.06, 1.0);
    surface.occlusion = lerp(0.55, 0.85 + 0.15 * detail.r, tile.x);
    surface.normal = mappedNormal(unit(input.normal), input.tangent, uv);
    return surface;
}

float specularTerm(float nDotH, float nDotL, float nDotV, float roughness)
{
    float a2 = roughness * roughness * roughness * roughness;
    float base = nDotH * nDotH * (a2 - 1.0) + 1.0;
    float distribution = a2 / max(PI * base * base, 1e-4);
    float k = 0.5 * roughness * roughness;
    float masking = (nDotL * (1.0 - k) + k) * (nDotV * (1.0 - k) + k);
    return distribution * 0.25 / max(masking, 1e-3);
}

float3 sunLight(Surface surface, float3 view)
{
    float3 direction = unit(sunDirection.xyz * 0.4 + float3(0.35, -0.55, 0.75));
    float3 halfway = unit(direction + view);
    float nDotL = max(dot(surface.normal, direction), 0.0);
    if (nDotL <= 0.0)
        return float3(0.0, 0.0, 0.0);
    float nDotV = max(dot(surface.normal, view), 1e-3);
    float nDotH = max(dot(surface.normal, halfway), 0.0);
    float fresnel = 0.04 + 0.96 * pow(1.0 - clamp(dot(view, halfway), 0.0, 1.0), 5.0);
    float gloss = min(specularTerm(nDotH, nDotL, nDotV, surface.roughness), 16.0);
    float3 radiance = float3(2.6, 2.4, 2.1) + 0.4 * sunColor.rgb;
    return (surface.albedo / PI * (1.0 - fresnel) + gloss * fresnel) * radiance * nDotL;
}

float4 main(Varyings input) : SV_Target0
{
    Surface surface = readSurface(input);
    float3 view = unit(input.viewVector);
    float up = clamp(input.shadingNormal.y * -0.5 + 0.5, 0.0, 1.0);
    float3 sky = lerp(float3(0.30, 0.27, 0.24), float3(0.32, 0.42, 0.62), up);
    float rim = pow(1.0 - clamp(dot(surface.normal, view), 0.0, 1.0), 4.0);
    float3 color = sunLight(surface, view);
    color += sky * surface.occlusion * (surface.albedo * 0.7 + 0.1 * rim);
    float depth = clamp(0.5 + 0.5 * input.worldPosition.z, 0.0, 1.0);
    color = lerp(color, input.fog.rgb, input.fog.a * depth);
    color = color / (color + 0.9) * 1.3;
    return float4(pow(max(color, 0.0), 1.0 / 1.8), 1.0);
}
