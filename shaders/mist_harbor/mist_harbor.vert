#version 450
// A harbour in mist: light, scattered light and depth per vertex, exposure and fog in the block.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;
layout(location = 3) in float inOcclusion;

layout(set = 0, binding = 0, std140) uniform Frame {
    mat4 viewProjection;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 skyColor;
    vec4 mistColor;
    vec4 mist;          // x: start, y: end, z: density, w: height
    float exposure;
    float whitePoint;
} frame;

layout(location = 0) out vec3 vDirect;
layout(location = 1) out vec3 vSky;
layout(location = 2) out vec2 vUv;
layout(location = 2, component = 2) out float vDepth;
layout(location = 2, component = 3) out float vHeight;

void main()
{
    vec3 normal = normalize(inNormal + vec3(0.0, 0.0, 1.5));
    vec3 toSun = normalize(frame.sunDirection.xyz + vec3(0.0, 0.0, 1.5));
    vDirect = abs(frame.sunColor.rgb) * max(dot(normal, toSun), 0.0);
    vSky = abs(frame.skyColor.rgb) * clamp(inOcclusion, 0.0, 1.0) * (0.5 + 0.5 * normal.z);
    vUv = inUv;
    vec4 clip = frame.viewProjection * vec4(inPosition, 1.0);
    vDepth = clip.w;
    vHeight = inPosition.y;
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
