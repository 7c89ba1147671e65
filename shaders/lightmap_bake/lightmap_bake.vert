#version 450
// Draws a mesh unfolded into its light map; the true position and normal travel as varyings.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inLightMapUv;
layout(location = 3) in vec4 inAlbedo;

layout(set = 0, binding = 0, std140) uniform Bake {
    mat4 world;
    mat4 unfold;
    vec4 lightPositions[4];
    vec4 lightColors[4];
    vec4 sky;
    int lightCount;
} bake;

layout(location = 0) out vec3 vPosition;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec4 vAlbedo;
layout(location = 3) out vec2 vTexel;
layout(location = 4) out vec3 vOriginalNormal;

void main()
{
    vec4 world = bake.world * vec4(inPosition, 1.0);
    vPosition = world.xyz;
    vNormal = mat3(bake.world) * inNormal;
    vAlbedo = abs(inAlbedo);
    vTexel = inLightMapUv * 512.0;
    vOriginalNormal = inNormal;
    vec4 page = bake.unfold * vec4(inLightMapUv, 0.0, 1.0);
    gl_Position = vec4(page.xy, 0.5 * page.w, page.w);
}
