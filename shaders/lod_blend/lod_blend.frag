#version 450
// Reads the varyings of a level only at that level.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 light;
    vec4 eye;
    float blend;
    int lod;
} scene;
layout(set = 0, binding = 1) uniform sampler2D baseMap;
layout(set = 0, binding = 2) uniform sampler2D detailMap;

layout(location = 0) in vec4 vColor;
layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec4 vDetail;
layout(location = 3) in vec2 vUv;
layout(location = 5) in vec4 vTint;
layout(location = 6) in float vBlend;

layout(location = 0) out vec4 outColor;

vec3 baseColor()
{
    vec3 color = vColor.rgb;
    if (scene.lod >= 2)
        return color;
    color *= 0.5 + texture(baseMap, vUv).rgb;
    if (scene.lod == 1)
        return color;
    float detail = texture(detailMap, vDetail.xy).r;
    return mix(color, color * (0.5 + detail), 0.3 + 0.7 * vBlend);
}

void main()
{
    float size = max(length(vNormal), 1e-3);
    vec3 light = normalize(scene.light.xyz * 0.5 + vec3(0.0, 0.2, 1.0));
    float diffuse = 0.3 + 0.7 * max(dot(vNormal / size, light), 0.0);
    outColor = vec4(baseColor() * vTint.rgb * diffuse, 1.0);
}
