#version 450
// Cloth: patches of thread, tufts at the end of each.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 color;
layout(location = 2) in float tension;
layout(push_constant) uniform Push { vec4 dye; float wear; int seed; } push;
layout(location = 0) out vec3 vColor;
layout(location = 1) out float vTension;
layout(location = 2) out vec4 vDye;
layout(location = 3) out int vSeed;
void main() {
    vColor = color;
    vTension = tension;
    vDye = push.dye;
    vSeed = push.seed;
    gl_Position = vec4(position, 1.0);
}
