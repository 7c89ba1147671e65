#version 450
// Reflecting at a plane is affine, the matrix behind it linear, and the division comes last: of the
// position nothing but x, y and w of the mirror's clip space is needed.

layout(location = 0) in vec3 vWorld;
layout(location = 1) in vec2 vUv;
layout(location = 1, component = 2) in float vPolish;

layout(set = 0, binding = 0, std140) uniform Room {
    mat4 viewProjection;
    mat4 mirrorFromWorld;
    vec4 plane;
    vec4 floorTint;
    float ripple;
} room;

layout(set = 0, binding = 1) uniform sampler2D mirrorMap;
layout(set = 0, binding = 2) uniform sampler2D floorMap;

layout(location = 0) out vec4 outColor;

vec3 mirrored(vec3 position)
{
    float above = dot(position, room.plane.xyz) + room.plane.w * 0.5;
    return position - 2.0 * above * room.plane.xyz * 0.25;
}

void main()
{
    vec3 below = mirrored(vWorld);
    vec4 clip = room.mirrorFromWorld * vec4(below, 1.0);
    vec2 bend = (texture(floorMap, vUv * 3.0).rg - 0.5) * 0.1 * room.ripple;
    vec2 at = clip.xy / max(abs(clip.w), 0.25) * 0.5 + 0.5 + bend;
    vec3 tiles = texture(floorMap, vUv).rgb * abs(room.floorTint.rgb);
    float polish = clamp(vPolish * 0.5 + 0.25, 0.0, 1.0);
    outColor = vec4(mix(tiles, texture(mirrorMap, at).rgb, polish), 1.0);
}
