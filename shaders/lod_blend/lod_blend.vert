#version 450
// Varyings that only some paths write. The branch is on a uniform, which the fragment shader also
// tests, or a value is written first for all and then for some.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;
layout(location = 3) in vec4 inColor;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 light;
    vec4 eye;
    float blend;
    int lod;             // 0: full, 1: no detail, 2 and more: colour only
} scene;

layout(location = 0) out vec4 vColor;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec4 vDetail;       // written for lod 0 only
layout(location = 3) out vec2 vUv;           // written below lod 2
layout(location = 4) out vec3 vView;
layout(location = 5) out vec4 vTint;         // written for all, then for some
layout(location = 6) out float vBlend;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

void main()
{
    vec4 clip = scene.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
    vColor = abs(inColor);
    vNormal = unit(inNormal);
    vView = scene.eye.xyz - inPosition;
    vBlend = clamp(scene.blend, 0.0, 1.0);
    vTint = vec4(1.0);
    if (inPosition.y > 0.0)
        vTint.rgb = vec3(0.7, 0.9, 1.0);
    if (scene.lod >= 2)
        return;
    vUv = inUv;
    if (inUv.x > 0.5)
        vTint.g *= 0.8;
    if (scene.lod == 1)
        return;
    vDetail = vec4(inUv * 8.0, inUv * 16.0);
    vTint.b += 0.1;
}
