#version 450
// Layers blended by weights that a loop made.

layout(location = 0) in float weight[8];
layout(location = 8) in vec3 tint[4];
layout(location = 12) in vec2 layerUv;

layout(location = 0) out vec4 colour;

void main() {
    vec3 rock = vec3(0.5, 0.375, 0.25) * sin(layerUv.x * 9.0);
    vec3 moss = tint[1] * cos(layerUv.y * 7.0);
    vec3 snow = cos(tint[3].zzx);
    colour = vec4(rock * weight[0] + moss * weight[2] + snow * weight[5], 1.0);
}
