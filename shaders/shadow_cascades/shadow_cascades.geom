#version 450
// The cascade's number chooses the layer and the viewport.
layout(triangles, invocations = 4) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec2 vUv[];
layout(location = 1) in vec4 vWind[];
layout(location = 2) in vec4 vSplits[];
layout(location = 0) out vec2 gUv;
layout(location = 1) flat out int gCascade;
layout(location = 2) out vec4 gSplits;
layout(location = 3) out float gSplit;
void main() {
    for (int i = 0; i < 3; ++i) {
        float size = 1.0 + float(gl_InvocationID) * 0.25;
        gl_Position = gl_in[i].gl_Position;
        gl_Position.xy /= size;
        gUv = vUv[i];
        gCascade = gl_InvocationID;
        gSplits = vSplits[i];
        gSplit = vSplits[0][gl_InvocationID];
        gl_Layer = gl_InvocationID;
        gl_ViewportIndex = gl_InvocationID;
        EmitVertex();
    }
    EndPrimitive();
}
