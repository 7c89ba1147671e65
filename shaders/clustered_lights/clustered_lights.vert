#version 450
// Shadow positions in an array that the fragment shader picks from by a computed index.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 shadowFromWorld[4];
    vec4 lightColors[4];
    int selected;
    int clusterBits;
} scene;

layout(location = 0) out vec3 vPosition;
layout(location = 1) out vec4 vShadow[4];
layout(location = 5) out vec3 vNormal;
layout(location = 6) out vec4 vUv;
layout(location = 7) out vec3 vBounce;
layout(location = 8) flat out ivec3 vCluster;

void main()
{
    vec4 clip = scene.viewProjection * vec4(inPosition, 1.0);
    vPosition = inPosition;
    vShadow[0] = scene.shadowFromWorld[0] * vec4(inPosition, 1.0);
    vShadow[1] = scene.shadowFromWorld[1] * vec4(inPosition, 1.0);
    vShadow[2] = scene.shadowFromWorld[2] * vec4(inPosition, 1.0);
    vShadow[3] = scene.shadowFromWorld[3] * vec4(inPosition, 1.0);
    vNormal = inNormal;
    vUv = vec4(inUv, inUv * 0.25);
    vBounce = vec3(0.1) * max(-inNormal.y, 0.0);
    vec2 tile = clamp((clip.xy / max(clip.w, 0.05) * 0.5 + 0.5) * 4.0, vec2(0.0), vec2(3.0));
    vCluster = ivec3(ivec2(tile), scene.clusterBits);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
