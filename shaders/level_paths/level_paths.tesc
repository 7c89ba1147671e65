#version 450
// Levels and outputs stored on some paths, and again on others; early returns.
layout(vertices = 3) out;
layout(location = 0) in vec3 vNormal[];
layout(location = 1) in vec2 vUv[];
layout(location = 2) in float vNear[];
layout(location = 0) out vec3 cNormal[];
layout(location = 1) out vec2 cUv[];
layout(location = 2) out float cRough[];
layout(location = 3) patch out float pFade;
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter[0] = 1.0;
    gl_TessLevelOuter[1] = 1.0;
    gl_TessLevelOuter[2] = 1.0;
    gl_TessLevelInner[0] = 1.0;
    cNormal[gl_InvocationID] = vNormal[gl_InvocationID];
    cUv[gl_InvocationID] = vUv[gl_InvocationID];
    cRough[gl_InvocationID] = 0.0;
    pFade = 0.0;
    float near = max(vNear[0], max(vNear[1], vNear[2]));
    if (near < 0.3) {
        cUv[gl_InvocationID] = vec2(0.0);
        return;
    }
    cRough[gl_InvocationID] = vNear[gl_InvocationID] * 0.5;
    if (near > 0.8) {
        gl_TessLevelInner[0] = 4.0;
        gl_TessLevelOuter[0] = 4.0;
        pFade = 1.0;
    } else {
        gl_TessLevelInner[0] = 2.0;
    }
    gl_TessLevelOuter[1] = 3.0;
}
