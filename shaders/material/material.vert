#version 450
// The general vertex shader of the material system: it serves every surface material, so it writes
// whatever any of them may want. The fragment shader beside it uses about half of that.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inTangent;
layout(location = 3) in vec2 inUv;
layout(location = 4) in vec4 inColor;

layout(set = 0, binding = 0, std140) uniform Frame {
    mat4 viewProjection;
    mat4 previousViewProjection;
    mat4 shadowFromWorld;
    mat4 model;
    vec4 cameraPosition;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 baseTint;
} frame;

layout(location = 0) out vec3 vWorldPosition;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec4 vTangent;
layout(location = 3) out vec3 vBitangent;
layout(location = 4) out vec4 vUv;              // xy: surface, zw: light map
layout(location = 5) out vec4 vColor;
layout(location = 6) out vec3 vViewVector;
layout(location = 7) out vec4 vShadowPosition;
layout(location = 8) out vec4 vClip;
layout(location = 9) out vec4 vPreviousClip;
layout(location = 10) out vec4 vFog;            // rgb: colour, a: amount
layout(location = 11) flat out uint vMaterial;
layout(location = 12) out vec4 vTint;
layout(location = 13) out vec3 vShadingNormal;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

vec4 toClip(mat4 viewProjection, vec3 world)
{
    vec4 clip = viewProjection * vec4(world, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    return clip;
}

void main()
{
    vec3 world = (frame.model * vec4(inPosition, 1.0)).xyz;
    mat3 rotation = mat3(frame.model);
    vec3 normal = unit(rotation * inNormal + vec3(0.0, 0.0, 1.2));
    vec3 tangent = unit(rotation * inTangent.xyz + vec3(1.2, 0.0, 0.0));
    float handedness = inTangent.w < 0.0 ? -1.0 : 1.0;

    vWorldPosition = world;
    vNormal = normal;
    vTangent = vec4(tangent, handedness);
    vBitangent = cross(normal, tangent) * handedness;
    vUv = vec4(inUv * 1.5, inUv * 0.5 + 0.5);
    vColor = vec4(0.8 + 0.2 * inColor.rgb, inColor.a);
    vViewVector = frame.cameraPosition.xyz + vec3(0.0, 0.0, 2.5) - world;

    vec4 shadow = frame.shadowFromWorld * vec4(world + normal * 0.02, 1.0);
    vShadowPosition = vec4(shadow.xyz * 0.5 + 0.5 * shadow.w, shadow.w);

    vec4 clip = toClip(frame.viewProjection, world);
    vClip = clip;
    vPreviousClip = toClip(frame.previousViewProjection, world);
    vFog = vec4(0.58, 0.68, 0.82, 0.08);
    vMaterial = 2u;
    vTint = frame.baseTint;
    vShadingNormal = normal;
    gl_Position = clip;
}
