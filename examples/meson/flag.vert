#version 450
#extension GL_GOOGLE_include_directive : require
#include "wind.glsl"

layout(push_constant) uniform Wind { float time; } wind;

layout(location = 0) in vec2 inPosition;
layout(location = 0) out vec2 vPlace;
layout(location = 1) out vec3 vUnused;

void main()
{
    vPlace = inPosition * 0.5 + 0.5;
    vUnused = inPosition.xyx;
    gl_Position = vec4(inPosition.x, inPosition.y + gust(inPosition.x, wind.time), 0.0, 1.0);
}
