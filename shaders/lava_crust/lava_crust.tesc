#version 450
// Hands on what the crust is made of.
layout(vertices = 3) out;
layout(location = 0) in vec3 vPlace[];
layout(location = 1) in vec4 vHeat[];
layout(location = 2) in vec3 vDrift[];
layout(location = 3) in vec4 vGlow[];
layout(location = 0) out vec3 cPlace[];
layout(location = 1) out vec4 cHeat[];
layout(location = 2) out vec3 cDrift[];
layout(location = 3) out vec4 cGlow[];
void main() {
    cPlace[gl_InvocationID] = vPlace[gl_InvocationID];
    cHeat[gl_InvocationID] = vHeat[gl_InvocationID];
    cDrift[gl_InvocationID] = vDrift[gl_InvocationID];
    cGlow[gl_InvocationID] = vGlow[gl_InvocationID];
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 2.0;
    gl_TessLevelInner[0] = 2.0;
}
