#version 450
// Hands everything on.
layout(vertices = 4) out;
layout(set = 0, binding = 0) uniform Sail { vec4 sun; vec4 paint; vec4 wind; float wear; } sail;
layout(location = 0) in vec4 vCloth[];
layout(location = 1) in vec4 vDirt[];
layout(location = 2) in vec2 vUv[];
layout(location = 3) in vec2 vDrift[];
layout(location = 4) in vec3 vBend[];
layout(location = 0) out vec4 cCloth[];
layout(location = 1) out vec4 cDirt[];
layout(location = 2) out vec2 cUv[];
layout(location = 3) out vec2 cDrift[];
layout(location = 4) out vec3 cBend[];
void main() {
    cCloth[gl_InvocationID] = vCloth[gl_InvocationID];
    cDirt[gl_InvocationID] = vDirt[gl_InvocationID];
    cUv[gl_InvocationID] = vUv[gl_InvocationID];
    cDrift[gl_InvocationID] = vDrift[gl_InvocationID];
    cBend[gl_InvocationID] = vBend[gl_InvocationID] * sail.wind.xyz;
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter = float[4](4.0, 3.0, 4.0, 3.0);
    gl_TessLevelInner = float[2](3.0, 4.0);
}
