#version 450
// Rock and moss are mixed by one amount and damped by another; glow and reach make one brightness.

layout(location = 0) in vec3 vRock;
layout(location = 1) in vec3 vMoss;
layout(location = 2) in vec2 vUv;
layout(location = 2, component = 2) in float vGlow;
layout(location = 2, component = 3) in float vReach;

layout(set = 0, binding = 0, std140) uniform Cavern {
    mat4 viewProjection;
    vec4 torch;
    vec4 torchColor;
    float mossAmount;
    float damp;
} cavern;

layout(set = 0, binding = 1) uniform sampler2D rockMap;

layout(location = 0) out vec4 outColor;

void main()
{
    vec3 wall = vRock * (1.0 - cavern.mossAmount) + vMoss * cavern.mossAmount;
    wall -= wall * 0.25 * cavern.damp;
    float bright = vGlow * 0.5 + vReach * abs(cavern.torch.w) + 0.1;
    vec3 torch = abs(cavern.torchColor.rgb) * max(bright, 0.0);
    vec3 color = texture(rockMap, vUv).rgb * wall * torch;
    outColor = vec4(1.0 - exp(-2.0 * color), 1.0);
}
