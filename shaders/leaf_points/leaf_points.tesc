#version 450
// Density by the normal.
layout(vertices = 3) out;
layout(location = 0) in vec3 vNormal[];
layout(location = 1) in vec4 vAutumn[];
layout(location = 2) in vec4 vAutumnAgain[];
layout(location = 3) in float vFlutter[];
layout(location = 0) out vec3 cNormal[];
layout(location = 1) out vec4 cAutumn[];
layout(location = 2) out vec4 cAutumnAgain[];
layout(location = 3) out float cFlutter[];
void main() {
    cNormal[gl_InvocationID] = vNormal[gl_InvocationID];
    cAutumn[gl_InvocationID] = vAutumn[gl_InvocationID];
    cAutumnAgain[gl_InvocationID] = vAutumnAgain[gl_InvocationID];
    cFlutter[gl_InvocationID] = vFlutter[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    float density = 2.0 + floor(abs(vNormal[0].x) * 2.0);
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = density;
    gl_TessLevelInner[0] = density;
}
