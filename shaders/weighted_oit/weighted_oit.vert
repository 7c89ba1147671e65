#version 450
// Transparent surfaces for weighted blending.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inColor;
layout(location = 3) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 light;
    vec4 absorb;
    float power;
    int kind;
} scene;

layout(location = 0) out vec4 vColor;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec2 vUv;
layout(location = 3) out vec4 vClip;
layout(location = 4) flat out int vKind;
layout(location = 5) out vec3 vThickness;

void main()
{
    vec4 clip = scene.viewProjection * vec4(inPosition, 1.0);
    vColor = abs(inColor);
    vNormal = inNormal;
    vUv = inUv;
    vClip = clip;
    vKind = scene.kind & 3;
    vThickness = vec3(length(inPosition), inPosition.z, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
