#version 450
// Of what is stored per vertex the kind, the seed, the first colour and the grain are equal for the
// patch; the own colour is not, and the mean is read back.
layout(vertices = 3) out;
layout(push_constant) uniform Push { vec4 grain; } push;
layout(location = 0) in vec3 vStone[];
layout(location = 1) in vec3 vMoss[];
layout(location = 2) in float vHeight[];
layout(location = 3) flat in uint vKind[];
layout(location = 0) out vec3 cStone[];
layout(location = 1) out vec3 cMoss[];
layout(location = 2) out uint cKind[];
layout(location = 3) out vec3 cFirst[];
layout(location = 4) out uvec2 cSeed[];
layout(location = 5) out vec4 cGrain[];
layout(location = 6) out float cMean[];
layout(location = 7) out vec3 cOwn[];
void main() {
    cStone[gl_InvocationID] = vStone[gl_InvocationID];
    cMoss[gl_InvocationID] = vMoss[gl_InvocationID];
    cKind[gl_InvocationID] = vKind[gl_InvocationID];
    cFirst[gl_InvocationID] = vStone[0] * 0.5 + vMoss[0];
    cSeed[gl_InvocationID] = uvec2(gl_PrimitiveID, gl_PrimitiveID * 7 + gl_PatchVerticesIn);
    if (vHeight[1] > -100.0)
        cGrain[gl_InvocationID] = abs(push.grain) + 0.25;
    cMean[gl_InvocationID] = (vHeight[0] + vHeight[1] + vHeight[2]) / 3.0;
    cOwn[gl_InvocationID] = gl_InvocationID == 0 ? vStone[0] : vMoss[0];
    barrier();
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position
        + vec4(0.0, cMean[(gl_InvocationID + 1) % 3] * 0.01, 0.0, 0.0);
    gl_TessLevelOuter = float[4](3.0, 2.0, 4.0, 1.0);
    gl_TessLevelInner = float[2](2.0, 1.0);
}
