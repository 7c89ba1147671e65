#version 450
// All of the colour pass's outputs, though only heights matter here.
layout(vertices = 3) out;
layout(location = 0) in vec3 vNormal[];
layout(location = 1) in vec2 vUv[];
layout(location = 2) in vec4 vColor[];
layout(location = 0) out vec3 cNormal[];
layout(location = 1) out vec2 cUv[];
layout(location = 2) out vec4 cColor[];
void main() {
    cNormal[gl_InvocationID] = vNormal[gl_InvocationID];
    cUv[gl_InvocationID] = vUv[gl_InvocationID];
    cColor[gl_InvocationID] = vColor[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 4.0;
    gl_TessLevelInner[0] = 4.0;
}
