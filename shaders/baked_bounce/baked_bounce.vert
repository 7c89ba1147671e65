#version 450
// Light baked per vertex, in three parts that can be told apart by day and by night.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec4 inBounce;
layout(location = 2) in vec4 inSky;
layout(location = 3) in vec4 inLamps;
layout(location = 4) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Hour {
    mat4 viewProjection;
    vec4 skyTint;
    vec4 lampTint;
} hour;

layout(location = 0) out vec3 vBounce;
layout(location = 1) out vec3 vSky;
layout(location = 2) out vec3 vLamps;
layout(location = 3) out vec2 vUv;

void main()
{
    vBounce = abs(inBounce.rgb);
    vSky = abs(inSky.rgb);
    vLamps = inLamps.rgb * inLamps.rgb;
    vUv = inUv;
    vec4 clip = hour.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
