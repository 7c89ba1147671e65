#version 450
// Style chooses the light.
layout(location = 0) in vec4 eFacade;
layout(location = 1) flat in ivec2 eStyle;
layout(location = 2) in vec3 eLamp;
layout(location = 3) in vec3 eGround;
layout(location = 4) in vec2 eConstant;
layout(location = 5) flat in ivec2 eStyleAgain;
layout(location = 0) out vec4 color;
layout(location = 1) out ivec2 style;
void main() {
    vec3 lamp = eStyle.y > 1 ? eLamp : eGround * 0.5;
    color = eFacade * 0.5 + vec4(lamp, eConstant.x + eConstant.y);
    style = eStyle + eStyleAgain * 16;
}
