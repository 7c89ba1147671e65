#version 450

layout(push_constant) uniform Cloth { vec4 tint; float fade; } cloth;

layout(location = 1) in vec2 vUv;
layout(location = 2) in vec3 vTint;
layout(location = 3) in float vFold;
layout(location = 4) in vec2 vUvOfShadow;

layout(location = 0) out vec4 outColor;

void main()
{
    float light = vFold * 0.5 + 0.5;
    outColor = vec4(vTint * light * vUv.x * vUvOfShadow.x, cloth.fade);
}
