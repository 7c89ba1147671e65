#version 450
// Patches with colours of their own.

// A patch chooses among four colours of its own: two are fixed, one is said twice.
layout(vertices = 3) out;

layout(location = 0) in vec4 corner[];

layout(location = 0) out vec4 cage[];
layout(location = 1) patch out vec4 swatch[4];
layout(location = 5) patch out vec4 unused;

void main() {
    cage[gl_InvocationID] = corner[gl_InvocationID];
    swatch[0] = corner[0];
    swatch[1] = vec4(0.25, 0.5, 0.75, 1.0);
    swatch[2] = corner[0];
    swatch[3] = vec4(1.0, 0.5, 0.25, 1.0);
    unused = corner[1] * 2.0;
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter[0] = 3.0;
    gl_TessLevelOuter[1] = 2.0;
    gl_TessLevelOuter[2] = 4.0;
    gl_TessLevelInner[0] = 3.0;
}
