#version 450

layout(location = 0) in vec2 vPlace;
layout(location = 0) out vec4 outColor;

void main()
{
    outColor = vec4(vPlace.y, 0.2, 1.0 - vPlace.y, 1.0);
}
