#version 450
// Lamps by a dynamic index; the block's values become flat outputs.
layout(triangles, equal_spacing, cw) in;
struct Block { vec4 facade; ivec2 style; float height; };
layout(location = 0) in vec3 cGround[];
layout(location = 1) in vec2 cConstant[];
layout(location = 2) patch in Block pBlock;
layout(location = 5) patch in vec3 pLamps[3];
layout(location = 8) patch in float pUnused;
layout(location = 9) patch in ivec2 pStyleAgain;
layout(location = 0) out vec4 eFacade;
layout(location = 1) flat out ivec2 eStyle;
layout(location = 2) out vec3 eLamp;
layout(location = 3) out vec3 eGround;
layout(location = 4) out vec2 eConstant;
layout(location = 5) flat out ivec2 eStyleAgain;
void main() {
    vec3 t = gl_TessCoord;
    eFacade = pBlock.facade * pBlock.height;
    eStyle = pBlock.style;
    eStyleAgain = pStyleAgain;
    eLamp = pLamps[(pBlock.style.x & 3) % 3];
    eGround = cGround[0] * t.x + cGround[1] * t.y + cGround[2] * t.z;
    eConstant = cConstant[0] * t.x + cConstant[1] * t.y + cConstant[2] * t.z;
    gl_Position = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y
        + gl_in[2].gl_Position * t.z;
}
