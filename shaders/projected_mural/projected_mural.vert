#version 450
// Walls that receive a mural: world position and normal, for the projector to make its own of them.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

layout(push_constant) uniform Projector {
    mat4 boxFromWorld;
    vec4 axis;          // xyz: direction of the projection, w: softness
    vec4 tint;
    vec2 margin;
} projector;

layout(set = 0, binding = 0, std140) uniform Camera {
    mat4 viewProjection;
} camera;

layout(location = 0) out vec3 vWorld;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec2 vUv;

void main()
{
    vWorld = inPosition;
    vNormal = inNormal + projector.axis.xyz * 0.5;
    vUv = inUv;
    vec4 clip = camera.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
