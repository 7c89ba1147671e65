#version 450
// The corners' colours are values of the patch.
layout(vertices = 16) out;
layout(location = 0) in vec4 vPaint[];
layout(location = 1) in uint vLayer[];
layout(location = 2) in vec3 vUnused[];
layout(location = 0) out vec3 cUnused[];
layout(location = 1) out uint cLayer[];
layout(location = 2) patch out vec4 pPaint[4];
layout(location = 6) patch out uint pLayer;
layout(location = 7) patch out vec4 pWhite;
void main() {
    cUnused[gl_InvocationID] = vUnused[gl_InvocationID];
    cLayer[gl_InvocationID] = vLayer[0];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    if (gl_InvocationID == 0) {
        pPaint[0] = vPaint[0];
        pPaint[1] = vPaint[3];
        pPaint[2] = vPaint[15];
        pPaint[3] = vPaint[12];
        pLayer = vLayer[0];
        pWhite = vec4(1.0);
        gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = 5.0;
        gl_TessLevelOuter[2] = gl_TessLevelOuter[3] = 4.0;
        gl_TessLevelInner[0] = gl_TessLevelInner[1] = 4.0;
    }
}
