#version 450
// Each corner looks at the others' results behind a barrier.
layout(vertices = 3) out;
layout(location = 0) in vec2 vUv[];
layout(location = 1) in float vWave[];
layout(location = 2) in vec4 vDeep[];
layout(location = 3) in vec4 vShallow[];
layout(location = 0) out vec2 cUv[];
layout(location = 1) out float cWave[];
layout(location = 2) out float cSlope[];
layout(location = 3) out vec4 cShallow[];
layout(location = 4) patch out vec4 pDeep;
layout(location = 5) out float cScratch[];
void main() {
    cUv[gl_InvocationID] = vUv[gl_InvocationID];
    cScratch[gl_InvocationID] = vWave[gl_InvocationID] * vWave[gl_InvocationID];
    cWave[gl_InvocationID] = vWave[gl_InvocationID];
    cShallow[gl_InvocationID] = vShallow[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    float own = cScratch[gl_InvocationID];
    barrier();
    int next = (gl_InvocationID + 1) % 3, last = (gl_InvocationID + 2) % 3;
    cSlope[gl_InvocationID] = cWave[next] - cWave[last] + own * 0.125;
    if (gl_InvocationID == 1) pDeep = vDeep[1];
    float rough = 1.0 + 2.0 * (cScratch[0] + cScratch[1] + cScratch[2]);
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = clamp(rough, 1.0, 6.0);
    gl_TessLevelInner[0] = clamp(rough, 1.0, 6.0);
}
