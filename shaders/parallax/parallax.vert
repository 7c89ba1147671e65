#version 450
// Parallax occlusion: view and light vectors in tangent space; world-space twins ride along.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inTangent;
layout(location = 3) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 world;
    vec4 eye;
    vec4 light;
    float depth;
    int layers;
} scene;

layout(location = 0) out vec2 vUv;
layout(location = 1) out vec3 vViewTangent;
layout(location = 2) out vec3 vLightTangent;
layout(location = 3) out vec3 vViewWorld;
layout(location = 4) out vec3 vLightWorld;
layout(location = 5) out vec3 vNormal;
layout(location = 6) out float vDepthScale;

vec3 unit(vec3 v, vec3 fallback)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : fallback;
}

void main()
{
    vec3 world = (scene.world * vec4(inPosition, 1.0)).xyz;
    vec3 n = unit(mat3(scene.world) * inNormal, vec3(0.0, 0.0, 1.0));
    vec3 t = mat3(scene.world) * inTangent.xyz;
    t = unit(t - n * dot(n, t), vec3(1.0, 0.0, 0.0));
    vec3 b = cross(n, t) * sign(inTangent.w + 1e-6);
    mat3 toTangent = transpose(mat3(t, b, n));
    vec3 view = scene.eye.xyz + vec3(0.0, 0.0, 2.0) - world;
    vec3 light = scene.light.xyz + vec3(0.3, 0.3, 1.2) - world;
    vUv = inUv;
    vViewTangent = toTangent * view;
    vLightTangent = toTangent * light;
    vViewWorld = view;
    vLightWorld = light;
    vNormal = n;
    vDepthScale = 0.03 + 0.03 * abs(scene.depth);
    vec4 clip = scene.viewProjection * vec4(world, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
