#version 450
// Control points of the crust.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 heat;
layout(location = 2) in vec4 drift;
layout(location = 0) out vec3 vPlace;
layout(location = 1) out vec4 vHeat;
layout(location = 2) out vec3 vDrift;
layout(location = 3) out vec4 vGlow;
void main() {
    vPlace = position;
    vHeat = heat;
    vDrift = drift.xyz * 0.125;
    vGlow = exp2(heat) * drift;
    gl_Position = vec4(position, 1.0);
}
