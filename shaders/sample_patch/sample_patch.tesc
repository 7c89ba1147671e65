#version 450
// Fixed levels.
layout(vertices = 3) out;
layout(location = 0) in vec4 vTone[];
layout(location = 1) in vec2 vUv[];
layout(location = 0) out vec4 cTone[];
layout(location = 1) out vec2 cUv[];
void main() {
    cTone[gl_InvocationID] = vTone[gl_InvocationID];
    cUv[gl_InvocationID] = vUv[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter = float[4](2.0, 2.0, 2.0, 1.0);
    gl_TessLevelInner = float[2](2.0, 1.0);
}
