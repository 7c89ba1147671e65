#version 450
// The seed becomes a value of the patch.
layout(vertices = 4) out;
layout(location = 0) in vec3 vColor[];
layout(location = 1) in float vTension[];
layout(location = 2) in vec4 vDye[];
layout(location = 3) in int vSeed[];
layout(location = 0) out vec3 cColor[];
layout(location = 1) out float cTension[];
layout(location = 2) out vec4 cDye[];
layout(location = 3) patch out int pSeed;
layout(location = 4) patch out vec2 pSpan;
void main() {
    cColor[gl_InvocationID] = vColor[gl_InvocationID] * 0.5;
    cTension[gl_InvocationID] = vTension[gl_InvocationID];
    cDye[gl_InvocationID] = vDye[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    if (gl_InvocationID == 0) {
        pSeed = vSeed[0] + gl_PrimitiveID;
        pSpan = gl_in[3].gl_Position.xy - gl_in[0].gl_Position.xy;
        gl_TessLevelOuter[0] = 3.0;
        gl_TessLevelOuter[1] = 5.0;
    }
}
