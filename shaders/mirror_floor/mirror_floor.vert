#version 450
// A polished floor and what stands on it: position, and the strength of the polish.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec2 inUv;
layout(location = 2) in float inPolish;

layout(set = 0, binding = 0, std140) uniform Room {
    mat4 viewProjection;
    mat4 mirrorFromWorld;
    vec4 plane;         // xyz: normal, w: distance
    vec4 floorTint;
    float ripple;
} room;

layout(location = 0) out vec3 vWorld;
layout(location = 1) out vec2 vUv;
layout(location = 1, component = 2) out float vPolish;

void main()
{
    vWorld = inPosition;
    vUv = inUv;
    vPolish = inPolish;
    vec4 clip = room.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
