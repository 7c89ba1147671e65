#version 450
layout(location = 0) in vec2 vPlace;
layout(location = 1) in vec4 vCloth;
layout(location = 2) in vec3 vNormal;
layout(location = 0) out vec4 colour;
void main() { colour = vCloth * (0.5 + 0.5 * sin(vPlace.x * 9.0) * cos(vPlace.y * 7.0)); }
