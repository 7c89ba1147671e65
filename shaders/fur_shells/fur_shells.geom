#version 450
// One invocation a shell: its height is equal for the primitive.
layout(triangles, invocations = 4) in;
layout(triangle_strip, max_vertices = 3) out;
layout(set = 0, binding = 0) uniform Fur { vec4 rootColor; vec4 tipColor; vec4 gravity; } fur;
layout(location = 0) in vec3 vNormal[];
layout(location = 1) in vec2 vUv[];
layout(location = 2) in vec4 vTipColor[];
layout(location = 3) in vec3 vTangent[];
layout(location = 0) out vec2 gUv;
layout(location = 1) out float gHeight;
layout(location = 2) out vec4 gTipColor;
layout(location = 3) out vec3 gNormal;
layout(location = 4) out float gHeightAgain;
layout(location = 5) out float gLayers;
void main() {
    float height = float(gl_InvocationID) * 0.25;
    for (int i = 0; i < 3; ++i) {
        gUv = vUv[i];
        gHeight = height;
        gHeightAgain = height;
        gTipColor = vTipColor[i];
        gNormal = vNormal[i] + vTangent[i] * 0.125;
        gLayers = 4.0;
        vec3 lift = (vNormal[i] + fur.gravity.xyz * height) * height * 0.2;
        gl_Position = gl_in[i].gl_Position + vec4(lift, 0.0);
        EmitVertex();
    }
    EndPrimitive();
}
