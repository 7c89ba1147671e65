#version 450
// Motion trails: arrays of varyings, dynamic indices on both sides.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 velocity;
layout(location = 2) in int frames;
layout(location = 0) out vec3 vTrail[4];
layout(location = 4) out vec4 vTints[3];
layout(location = 7) flat out int vFrames;
void main() {
    for (int i = 0; i < 4; ++i) vTrail[i] = position - velocity * float(i) * 0.1;
    vTints[0] = vec4(1.0, 0.5, 0.25, 1.0);
    vTints[1] = vec4(velocity, 1.0);
    vTints[2] = vec4(0.0);
    vFrames = clamp(frames, 0, 3);
    gl_Position = vec4(position, 1.0);
}
