#version 450
// Alpha-to-coverage hair: sample-rate inputs beside pixel-rate ones. One of them nobody reads.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inTangent;
layout(location = 2) in vec2 inUv;
layout(location = 3) in vec4 inColor;

layout(set = 0, binding = 0, std140) uniform Hair {
    mat4 viewProjection;
    vec4 light;
    vec4 eye;
    vec4 rootColor;
    float frizz;
} hair;

layout(location = 0) out vec3 vTangent;
layout(location = 1) sample out vec2 vUv;
layout(location = 2) sample out vec4 vStrand;
layout(location = 3) out vec4 vColor;
layout(location = 4) out vec3 vToEye;
layout(location = 5) out vec3 vToLight;
layout(location = 6) centroid out float vRoot;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(1.0, 0.0, 0.0);
}

void main()
{
    vec3 position = inPosition;
    position += 0.05 * hair.frizz * sin(inPosition.yzx * 9.0);
    vTangent = unit(inTangent);
    vUv = inUv * 0.5 + 0.5;
    vStrand = vec4(inUv * 8.0, inPosition.xy);
    float root = clamp(inUv.y * 0.5 + 0.5, 0.0, 1.0);
    vColor = vec4(mix(abs(hair.rootColor.rgb) * 0.4, abs(inColor.rgb), root), 1.0);
    vToEye = hair.eye.xyz + vec3(0.0, 0.0, 2.0) - position;
    vToLight = hair.light.xyz + vec3(0.5, 1.0, 1.0) - position;
    vRoot = root;
    vec4 clip = hair.viewProjection * vec4(position, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
