#version 450
// Tessellation levels from edge lengths; hands everything through.
layout(vertices = 4) out;
layout(set = 0, binding = 0) uniform Frame {
    mat4 view;
    mat4 projection;
    vec4 sunColor;
    vec4 fog;
    float heightScale;
    float detail;
} frame;
layout(location = 0) in vec3 vNormal[];
layout(location = 1) in vec2 vUv[];
layout(location = 2) in vec4 vShadowPosition[];
layout(location = 3) in vec4 vSunColor[];
layout(location = 4) in float vDetail[];
layout(location = 0) out vec3 cNormal[];
layout(location = 1) out vec2 cUv[];
layout(location = 2) out vec4 cShadowPosition[];
layout(location = 3) out vec4 cSunColor[];
layout(location = 4) out float cDetail[];
layout(location = 5) patch out vec4 pFog;
layout(location = 6) patch out float pLevel;
float level(vec4 a, vec4 b) {
    return clamp(distance(a.xyz, b.xyz) * 4.0 * frame.detail + 1.0, 1.0, 8.0);
}
void main() {
    cNormal[gl_InvocationID] = vNormal[gl_InvocationID];
    cUv[gl_InvocationID] = vUv[gl_InvocationID];
    cShadowPosition[gl_InvocationID] = vShadowPosition[gl_InvocationID];
    cSunColor[gl_InvocationID] = vSunColor[gl_InvocationID];
    cDetail[gl_InvocationID] = vDetail[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    if (gl_InvocationID == 0) {
        pFog = vec4(frame.fog.rgb, 1.0);
        pLevel = level(gl_in[0].gl_Position, gl_in[2].gl_Position);
        gl_TessLevelOuter[0] = level(gl_in[3].gl_Position, gl_in[0].gl_Position);
        gl_TessLevelOuter[1] = level(gl_in[0].gl_Position, gl_in[1].gl_Position);
        gl_TessLevelOuter[2] = level(gl_in[1].gl_Position, gl_in[2].gl_Position);
        gl_TessLevelOuter[3] = level(gl_in[2].gl_Position, gl_in[3].gl_Position);
        gl_TessLevelInner[0] = mix(gl_TessLevelOuter[0], gl_TessLevelOuter[3], 0.5);
        gl_TessLevelInner[1] = mix(gl_TessLevelOuter[2], gl_TessLevelOuter[1], 0.5);
    }
}
