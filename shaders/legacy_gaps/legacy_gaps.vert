#version 450
// Grown over years: Locations with gaps, and two that are declared but no longer written. These two
// are the highest: below others, they make Mesa 25.0 (lavapipe) give wrong values to those others.

layout(location = 0) in vec3 inPosition;
layout(location = 3) in vec3 inNormal;
layout(location = 5) in vec2 inUv;
layout(location = 6) in vec4 inColor;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 light;
    vec4 legacyFog;
    int debugMode;
} scene;

layout(location = 0) out vec4 vColor;
layout(location = 3) out vec3 vNormal;
layout(location = 5) out vec4 vProjector;
layout(location = 7) out vec2 vUv;
layout(location = 12) out vec4 vSpecular;
layout(location = 13) flat out uint vRetiredMask;     // not written any more
layout(location = 14) out vec4 vRetiredFog;          // not written any more

void main()
{
    vec3 toEye = vec3(0.0, 0.0, 2.0) - inPosition;
    vec3 halfway = toEye + scene.light.xyz;
    float size = max(length(halfway) * length(inNormal), 1e-3);
    float gloss = pow(clamp(dot(halfway, inNormal) / size, 0.0, 1.0), 8.0);
    vColor = abs(inColor);
    vNormal = inNormal;
    vProjector = vec4(inPosition.xy, 0.0, 1.0);
    vUv = inUv;
    vSpecular = vec4(vec3(gloss), 1.0);
    vec4 clip = scene.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
