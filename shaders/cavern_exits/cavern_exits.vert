#version 450
// Cave walls: far, near and glowing ones leave main() at returns of their own, all with the same
// outputs written.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec4 inRock;
layout(location = 2) in vec4 inMoss;
layout(location = 3) in vec2 inUv;
layout(location = 4) in float inGlow;

layout(set = 0, binding = 0, std140) uniform Cavern {
    mat4 viewProjection;
    vec4 torch;         // xyz: position, w: reach
    vec4 torchColor;
    float mossAmount;
    float damp;
} cavern;

layout(location = 0) out vec3 vRock;
layout(location = 1) out vec3 vMoss;
layout(location = 2) out vec2 vUv;
layout(location = 2, component = 2) out float vGlow;
layout(location = 2, component = 3) out float vReach;

vec4 placed(vec3 position)
{
    vec4 clip = cavern.viewProjection * vec4(position, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    return clip;
}

void main()
{
    float distance = length(inPosition - cavern.torch.xyz);
    gl_Position = placed(inPosition);
    vUv = inUv;
    if (inGlow > 1.0) {
        vRock = vec3(0.0);
        vMoss = inMoss.rgb * inMoss.rgb * 2.0;
        vGlow = inGlow;
        vReach = 1.0;
        return;
    }
    vGlow = 0.0;
    if (distance > 1.5) {
        vRock = vec3(0.1, 0.1, 0.15);
        vMoss = vec3(0.05);
        vReach = 0.0;
        return;
    }
    vRock = abs(inRock.rgb);
    vMoss = abs(inMoss.rgb);
    vReach = 1.0 / (1.0 + distance * distance);
}
