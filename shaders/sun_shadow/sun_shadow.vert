#version 450
// Casters and receivers: one world position for lighting, shadows and a cloud layer.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Sun {
    mat4 viewProjection;
    mat4 shadowFromWorld;
    mat4 shadowBias;        // clip space to texture space
    vec4 sunDirection;
    vec4 sunColor;
    vec4 cloudScroll;       // xy: offset, zw: scale
    float normalOffset;
} sun;

layout(location = 0) out vec3 vWorld;
layout(location = 1) out vec3 vOffset;      // the normal, shortened, to push the receiver out
layout(location = 2) out vec2 vUv;

void main()
{
    vWorld = inPosition;
    vOffset = inNormal * sun.normalOffset * 0.1;
    vUv = inUv;
    vec4 clip = sun.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
