#version 450
// A particle step: state in, state out, no position, no fragment shader.
layout(location = 0) in vec4 place;
layout(location = 1) in vec4 velocity;
layout(location = 2) in ivec2 kind;
layout(push_constant) uniform Push { vec4 gravity; float step; } push;
layout(location = 0) out State {
    layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 48) vec4 place;
    layout(xfb_buffer = 0, xfb_offset = 16, xfb_stride = 48) vec4 velocity;
    layout(xfb_buffer = 0, xfb_offset = 32, xfb_stride = 48) ivec2 kind;
    vec4 debug;
} state;
layout(location = 4) out vec4 vDead;
void main() {
    vec4 pushed = velocity + push.gravity * push.step;
    state.velocity = pushed * 0.99;
    state.place = place + pushed * push.step;
    state.kind = kind + 1;
    state.debug = vec4(length(pushed));
    vDead = place * 0.5;
}
