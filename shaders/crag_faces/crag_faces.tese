#version 450
// The same weights in two orders; the seed scatters.
layout(triangles, fractional_odd_spacing, cw) in;
layout(location = 0) in vec3 cStone[];
layout(location = 1) in vec3 cMoss[];
layout(location = 2) in uint cKind[];
layout(location = 3) in vec3 cFirst[];
layout(location = 4) in uvec2 cSeed[];
layout(location = 5) in vec4 cGrain[];
layout(location = 6) in float cMean[];
layout(location = 7) in vec3 cOwn[];
layout(location = 0) out vec3 eRock;
layout(location = 1) flat out uvec2 eSeed;
layout(location = 2) flat out uint eKind;
layout(location = 3) out vec4 eGrain;
layout(location = 4) out vec3 eEdge;
void main() {
    vec3 w = gl_TessCoord;
    vec3 stone = cStone[0] * w.x + cStone[1] * w.y + cStone[2] * w.z;
    vec3 moss = w.z * cMoss[2] + (w.x * cMoss[0] + w.y * cMoss[1]);
    eRock = sqrt(abs(stone * 0.75 + moss * 0.25) + 0.01) + cFirst[0] * cFirst[2];
    eSeed = cSeed[1];
    eKind = cKind[2];
    eGrain = cGrain[0] * w.x + cGrain[1] * w.y + cGrain[2] * w.z;
    eEdge = cOwn[0] * w.x + cOwn[1] * w.y + cOwn[2] * w.z + cMean[2];
    gl_Position = gl_in[0].gl_Position * w.x + gl_in[1].gl_Position * w.y
        + gl_in[2].gl_Position * w.z;
}
