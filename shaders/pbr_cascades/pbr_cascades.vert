#version 450
// Static meshes under a sun with four shadow cascades. Every cascade's position is written; which
// ones a material reads is its own affair.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inTangent;
layout(location = 3) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 world;
    mat4 normalMatrix;
    mat4 cascades[4];
    vec4 splits;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 eye;
    int lightCount;
    float exposure;
    vec2 uvScroll;
} scene;

layout(location = 0) out vec3 vWorld;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec3 vTangent;
layout(location = 3) out vec3 vBitangent;
layout(location = 4) out vec2 vUv;
layout(location = 5) out vec4 vCascade0;
layout(location = 6) out vec4 vCascade1;
layout(location = 7) out vec4 vCascade2;
layout(location = 8) out vec4 vCascade3;
layout(location = 9) out vec3 vView;
layout(location = 10) out vec4 vDepths;    // x: view depth, y: its log, z: near fade, w: spare

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

vec4 cascadePosition(int index, vec3 world, vec3 normal)
{
    vec3 offset = normal * (0.01 * float(index + 1));
    vec4 p = scene.cascades[index] * vec4(world + offset, 1.0);
    return vec4(p.xyz * 0.5 + 0.5 * p.w, p.w);
}

void main()
{
    vec3 world = (scene.world * vec4(inPosition, 1.0)).xyz;
    vec3 n = unit(mat3(scene.normalMatrix) * inNormal);
    vec3 t = unit(mat3(scene.world) * inTangent.xyz);
    t = unit(t - n * dot(n, t));
    vec4 clip = scene.viewProjection * vec4(world, 1.0);

    vWorld = world;
    vNormal = n;
    vTangent = t;
    vBitangent = cross(n, t) * (inTangent.w < 0.0 ? -1.0 : 1.0);
    vUv = inUv + scene.uvScroll;
    vCascade0 = cascadePosition(0, world, n);
    vCascade1 = cascadePosition(1, world, n);
    vCascade2 = cascadePosition(2, world, n);
    vCascade3 = cascadePosition(3, world, n);
    vView = scene.eye.xyz + vec3(0.0, 0.0, 2.0) - world;
    float depth = clip.w + inPosition.z;
    vDepths = vec4(depth, log2(max(depth, 1e-3)), clamp(depth * 4.0, 0.0, 1.0), 0.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
