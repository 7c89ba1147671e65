#version 450
// Per-vertex lights in an array, all indices constant; the material below takes four of six.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 positions[6];
    vec4 colors[6];
} scene;

layout(location = 0) out vec2 vUv;
layout(location = 1) out vec4 vLights[6];        // rgb: light, a: distance
layout(location = 7) out float vHeights[3];
layout(location = 10) out vec3 vNormal;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

vec4 lightOf(int i, vec3 position, vec3 normal)
{
    vec3 toLight = scene.positions[i].xyz + vec3(0.0, 0.0, 0.7) - position;
    float squared = dot(toLight, toLight);
    float strength = max(dot(normal, unit(toLight)), 0.0) / (0.3 + squared);
    return vec4(abs(scene.colors[i].rgb) * strength, sqrt(squared));
}

void main()
{
    vec3 normal = unit(inNormal + vec3(0.0, 0.0, 0.5));
    vUv = inUv;
    vLights[0] = lightOf(0, inPosition, normal);
    vLights[1] = lightOf(1, inPosition, normal);
    vLights[2] = lightOf(2, inPosition, normal);
    vLights[3] = lightOf(3, inPosition, normal);
    vLights[4] = lightOf(4, inPosition, normal);
    vLights[5] = lightOf(5, inPosition, normal);
    vHeights[0] = inPosition.y;
    vHeights[1] = inPosition.y * inPosition.y;
    vHeights[2] = 1.0;
    vNormal = normal;
    vec4 clip = scene.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
