#version 450
// Matrices as varyings: a tangent frame (mat3), a decal transform (mat4) and a uv transform.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inTangent;
layout(location = 3) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 world;
    mat4 decal;
    vec4 light;
    vec4 eye;
    float uvTurn;
} scene;

layout(location = 0) out mat3 vTbn;
layout(location = 3) out mat4 vDecal;
layout(location = 7) out mat2 vUvTurn;
layout(location = 9) out vec3 vPosition;
layout(location = 10) out vec2 vUv;

vec3 unit(vec3 v, vec3 fallback)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : fallback;
}

mat3 frame(vec3 normal, vec4 tangent)
{
    vec3 n = unit(mat3(scene.world) * normal, vec3(0.0, 0.0, 1.0));
    vec3 t = mat3(scene.world) * tangent.xyz;
    t = unit(t - n * dot(n, t), vec3(1.0, 0.0, 0.0));
    vec3 b = cross(n, t) * (tangent.w < 0.0 ? -1.0 : 1.0);
    return mat3(t, b, n);
}

void main()
{
    vec4 world = scene.world * vec4(inPosition, 1.0);
    vTbn = frame(inNormal, inTangent);
    vDecal = scene.decal;
    vDecal[3].xyz += 0.1 * inPosition;
    float c = cos(scene.uvTurn);
    float s = sin(scene.uvTurn);
    vUvTurn[0] = vec2(c, s);
    vUvTurn[1] = vec2(-s, c);
    vPosition = world.xyz;
    vUv = inUv;
    vec4 clip = scene.viewProjection * world;
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
