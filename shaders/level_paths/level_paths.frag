#version 450
// What the paths left.
layout(location = 0) in vec3 eNormal;
layout(location = 1) in vec4 eUvRoughFade;
layout(location = 2) in float eLevel;
layout(location = 0) out vec4 color;
void main() { color = vec4(eUvRoughFade.xyz + eNormal * 0.25, eUvRoughFade.w + eLevel); }
