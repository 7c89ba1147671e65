#version 450
// Mirror ball: a vertex shader that makes coordinates for every kind of texture.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 shadowFromWorld;
    vec4 boxMin;
    vec4 boxMax;
    float layer;
    float lod;
} scene;

layout(location = 0) out vec2 vUv;
layout(location = 1) out vec3 vArrayUv;
layout(location = 2) out vec3 vReflected;
layout(location = 3) out vec3 vRefracted;
layout(location = 4) out vec3 vVolume;
layout(location = 5) out vec4 vShadow;
layout(location = 6) out vec4 vCubeArray;
layout(location = 7) out float vRamp;
layout(location = 8) flat out float vLod;
layout(location = 9) out vec3 vNormal;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

void main()
{
    vec3 n = unit(inNormal);
    vec3 incoming = unit(inPosition - vec3(0.0, 0.0, 2.5));
    vUv = inUv;
    vArrayUv = vec3(inUv, floor(abs(scene.layer) * 4.0));
    vReflected = reflect(incoming, n);
    vRefracted = refract(incoming, n, 0.66);
    vVolume = inPosition * 0.5 + 0.5;
    vec4 s = scene.shadowFromWorld * vec4(inPosition, 1.0);
    vShadow = vec4(s.xyz * 0.5 + 0.5 * s.w, s.w);
    vCubeArray = vec4(n, 1.0);
    vRamp = n.y * 0.5 + 0.5;
    vLod = 3.0 * abs(scene.lod);
    vNormal = n;
    vec4 clip = scene.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
