#version 450
// Painted, worn tiles in the sun: normal map, roughness, ambient occlusion, one directional light.
// Of the vertex shader's varyings it needs neither bitangent, light map, shadow nor motion.

layout(set = 0, binding = 0, std140) uniform Frame {
    mat4 viewProjection;
    mat4 previousViewProjection;
    mat4 shadowFromWorld;
    mat4 model;
    vec4 cameraPosition;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 baseTint;
} frame;

layout(set = 0, binding = 1) uniform sampler2D albedoMap;
layout(set = 0, binding = 2) uniform sampler2D normalMap;
layout(set = 0, binding = 3) uniform sampler2D surfaceMap;  // r: occlusion, g: roughness

layout(location = 0) in vec3 vWorldPosition;
layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec4 vTangent;
layout(location = 4) in vec4 vUv;
layout(location = 5) in vec4 vColor;
layout(location = 6) in vec3 vViewVector;
layout(location = 10) in vec4 vFog;
layout(location = 11) flat in uint vMaterial;
layout(location = 12) in vec4 vTint;
layout(location = 13) in vec3 vShadingNormal;

layout(location = 0) out vec4 outColor;

const float PI = 3.14159265;

struct Surface {
    vec3 albedo;
    vec3 normal;
    float roughness;
    float occlusion;
};

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

// x: 1 inside a tile, 0 in the joint; y: a number of its own for each tile.
vec2 tilePattern(vec2 uv)
{
    vec2 grid = uv * vec2(2.0, 4.0);
    grid.x += 0.5 * mod(floor(grid.y), 2.0);
    vec2 cell = floor(grid);
    vec2 inside = abs(fract(grid) - 0.5);
    float edge = max(inside.x + 0.25, inside.y * 0.8 + 0.33);
    float tile = 1.0 - smoothstep(0.68, 0.73, edge);
    float shade = fract(sin(dot(cell, vec2(12.7, 39.3))) * 437.1);
    return vec2(tile, shade);
}

vec3 mappedNormal(vec3 normal, vec4 tangentFrame, vec2 uv)
{
    vec3 tangent = unit(tangentFrame.xyz - normal * dot(normal, tangentFrame.xyz));
    vec3 bitangent = cross(normal, tangent) * tangentFrame.w;
    vec2 slope = (texture(normalMap, uv).xy * 2.0 - 1.0) * 0.15;
    return unit(tangent * slope.x + bitangent * slope.y + normal);
}

Surface readSurface()
{
    Surface surface;
    vec2 uv = vUv.xy;
    vec2 tile = tilePattern(uv);
    vec3 texel = texture(albedoMap, uv).rgb;
    vec3 glaze = mix(vec3(0.70, 0.20, 0.08), vec3(0.08, 0.30, 0.48), tile.y);
    vec3 paint = glaze * (0.8 + 0.4 * texel) * vColor.rgb * 1.3;
    surface.albedo = mix(vec3(0.16, 0.14, 0.12), paint, tile.x);
    if (vMaterial == 2u)
        surface.albedo *= 1.0 + 0.12 * vTint.rgb;
    vec3 detail = texture(surfaceMap, uv).rgb;
    surface.roughness = clamp(mix(0.9, 0.25 + 0.35 * detail.g, tile.x), 0.06, 1.0);
    surface.occlusion = mix(0.55, 0.85 + 0.15 * detail.r, tile.x);
    surface.normal = mappedNormal(unit(vNormal), vTangent, uv);
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

vec3 sunLight(Surface surface, vec3 view)
{
    vec3 light = unit(frame.sunDirection.xyz * 0.4 + vec3(0.35, -0.55, 0.75));
    vec3 halfway = unit(light + view);
    float nDotL = max(dot(surface.normal, light), 0.0);
    if (nDotL <= 0.0)
        return vec3(0.0);
    float nDotV = max(dot(surface.normal, view), 1e-3);
    float nDotH = max(dot(surface.normal, halfway), 0.0);
    float fresnel = 0.04 + 0.96 * pow(1.0 - clamp(dot(view, halfway), 0.0, 1.0), 5.0);
    float gloss = min(specularTerm(nDotH, nDotL, nDotV, surface.roughness), 16.0);
    vec3 radiance = vec3(2.6, 2.4, 2.1) + 0.4 * frame.sunColor.rgb;
    return (surface.albedo / PI * (1.0 - fresnel) + gloss * fresnel) * radiance * nDotL;
}

vec3 skyLight(Surface surface, vec3 view)
{
    float up = vShadingNormal.y * -0.5 + 0.5;
    vec3 sky = mix(vec3(0.30, 0.27, 0.24), vec3(0.32, 0.42, 0.62), clamp(up, 0.0, 1.0));
    float rim = pow(1.0 - clamp(dot(surface.normal, view), 0.0, 1.0), 4.0);
    return sky * surface.occlusion * (surface.albedo * 0.7 + 0.1 * rim);
}

void main()
{
    Surface surface = readSurface();
    vec3 view = unit(vViewVector);
    vec3 color = sunLight(surface, view) + skyLight(surface, view);
    float depth = clamp(0.5 + 0.5 * vWorldPosition.z, 0.0, 1.0);
    color = mix(color, vFog.rgb, vFog.a * depth);
    color = color / (color + 0.9) * 1.3;
    outColor = vec4(pow(max(color, 0.0), vec3(1.0 / 1.8)), 1.0);
}
