#version 450
// A flag of cloth in the wind.

layout(push_constant) uniform Cloth { vec4 tint; float fade; } cloth;

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec2 inUv;

layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out vec3 vTint;
layout(location = 3) out float vFold;
layout(location = 4) out vec2 vUvOfShadow;

void main()
{
    vNormal = inPosition.zxy;
    vUv = inUv;
    vTint = cloth.tint.rgb;
    vFold = inPosition.x;
    vUvOfShadow = inUv;
    gl_Position = vec4(inPosition, 1.0);
}
