#version 450
// The width of the root is that of the whole branch.
layout(vertices = 3) out;
layout(location = 0) in vec4 vBark[];
layout(location = 1) in vec4 vVelvet[];
layout(location = 2) in float vWidth[];
layout(location = 0) out vec4 cBark[];
layout(location = 1) out vec4 cVelvet[];
layout(location = 2) out float cRoot[];
void main() {
    cBark[gl_InvocationID] = vBark[gl_InvocationID] * 0.5;
    cVelvet[gl_InvocationID] = sqrt(abs(vVelvet[gl_InvocationID]));
    cRoot[gl_InvocationID] = vWidth[0];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter[0] = 5.0;
    gl_TessLevelOuter[1] = 6.0;
}
