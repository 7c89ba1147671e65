#version 450
// Values of the patch of every sort: constant, of the first vertex, dead, in a struct, an array.
layout(vertices = 3) out;
struct Block { vec4 facade; ivec2 style; float height; };
layout(location = 0) in vec4 vFacade[];
layout(location = 1) in ivec4 vStyle[];
layout(location = 2) in vec3 vGround[];
layout(location = 3) in vec2 vConstant[];
layout(location = 0) out vec3 cGround[];
layout(location = 1) out vec2 cConstant[];
layout(location = 2) patch out Block pBlock;
layout(location = 5) patch out vec3 pLamps[3];
layout(location = 8) patch out float pUnused;
layout(location = 9) patch out ivec2 pStyleAgain;
void main() {
    cGround[gl_InvocationID] = vGround[gl_InvocationID];
    cConstant[gl_InvocationID] = vConstant[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    pBlock.facade = vFacade[0];
    pBlock.style = vStyle[1].xy;
    pBlock.height = 1.0 + vGround[2].x;
    for (int i = 0; i < 3; ++i) pLamps[i] = vGround[i] * float(i + 1);
    pUnused = vFacade[2].w;
    pStyleAgain = vStyle[1].xy;
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 2.0;
    gl_TessLevelInner[0] = 2.0;
}
