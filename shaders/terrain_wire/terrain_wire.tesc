#version 450
// Hands through; splat and water die three stages further on.
layout(vertices = 3) out;
layout(location = 0) in vec3 vNormal[];
layout(location = 1) in vec2 vUv[];
layout(location = 2) in ivec2 vTile[];
layout(location = 3) in vec4 vSplat[];
layout(location = 4) in vec3 vWater[];
layout(location = 0) out vec3 cNormal[];
layout(location = 1) out vec2 cUv[];
layout(location = 2) patch out ivec2 pTile;
layout(location = 3) out vec4 cSplat[];
layout(location = 4) out vec3 cWater[];
void main() {
    cNormal[gl_InvocationID] = vNormal[gl_InvocationID];
    cUv[gl_InvocationID] = vUv[gl_InvocationID];
    cSplat[gl_InvocationID] = vSplat[gl_InvocationID];
    cWater[gl_InvocationID] = vWater[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    if (gl_InvocationID == 0) {
        pTile = vTile[0];
        gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 2.0;
        gl_TessLevelInner[0] = 2.0;
    }
}
