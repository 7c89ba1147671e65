#version 450
// The root's colour is equal for the patch, though each vertex carries it.
layout(vertices = 4) out;
layout(set = 0, binding = 0) uniform Hair {
    vec4 tipColor;
    vec4 wind;
    float strands;
    float thickness;
} hair;
layout(location = 0) in vec3 vRootColor[];
layout(location = 1) in vec3 vTipColor[];
layout(location = 2) in float vStiffness[];
layout(location = 3) in float vThickness[];
layout(location = 0) out vec3 cRootColor[];
layout(location = 1) out vec3 cTipColor[];
layout(location = 2) out float cStiffness[];
layout(location = 3) out float cThickness[];
void main() {
    cRootColor[gl_InvocationID] = vRootColor[0];
    cTipColor[gl_InvocationID] = vTipColor[gl_InvocationID];
    cStiffness[gl_InvocationID] = vStiffness[gl_InvocationID];
    cThickness[gl_InvocationID] = vThickness[3];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter[0] = clamp(hair.strands * 8.0, 2.0, 8.0);
    gl_TessLevelOuter[1] = 12.0;
}
