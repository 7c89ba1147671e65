#version 450
// Normal mapping as the exporter wrote it: the whole frame travels, for lights that are uniform.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inTangent;     // w: handedness
layout(location = 3) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Lights {
    mat4 viewProjection;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 ambient;
} lights;

layout(location = 0) out vec3 vTangent;
layout(location = 1) out vec3 vBitangent;
layout(location = 2) out vec3 vNormal;
layout(location = 3) out vec2 vUv;

void main()
{
    vec3 normal = normalize(inNormal + vec3(0.0, 0.0, 1.5));
    vec3 tangent = normalize(inTangent.xyz + vec3(1.5, 0.0, 0.0));
    float side = inTangent.w > 1.0 ? 1.0 : -1.0;
    vTangent = tangent;
    vBitangent = cross(normal, tangent) * side;
    vNormal = normal;
    vUv = inUv;
    vec4 clip = lights.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
