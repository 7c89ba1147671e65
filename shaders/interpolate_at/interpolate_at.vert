#version 450
// A supersampled surface: some varyings are read at the centre, some at an offset or centroid.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec2 inUv;
layout(location = 2) in vec4 inColor;
layout(location = 3) in vec3 inNormal;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 sharpness;
    vec2 jitter;
    int taps;
} scene;

layout(location = 0) out vec4 vUv;
layout(location = 1) out vec4 vColor;
layout(location = 2) out vec3 vNormal;
layout(location = 3) noperspective out vec2 vScreen;
layout(location = 4) out vec2 vRuler;
layout(location = 5) out vec4 vExtra;

void main()
{
    vec4 clip = scene.viewProjection * vec4(inPosition, 1.0);
    vUv = vec4(inUv * 3.0, inUv.yx);
    vColor = abs(inColor);
    vNormal = inNormal;
    vScreen = clip.xy / max(clip.w, 0.05);
    vRuler = inPosition.xy * 10.0;
    vExtra = vec4(inPosition, 1.0) * scene.sharpness;
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
