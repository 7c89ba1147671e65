#version 450
// One step of a dust simulation, drawn as it goes: the state for the next step is captured, and the
// trail is drawn with some of it.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 velocity;
layout(location = 2) in vec4 look;
layout(location = 3) in ivec4 seed;
layout(push_constant) uniform Push { vec4 wind; float step; float drag; } push;
layout(location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 48) out vec3 place;
layout(location = 1, xfb_buffer = 0, xfb_offset = 12, xfb_stride = 48) out float age;
layout(location = 2, xfb_buffer = 0, xfb_offset = 16, xfb_stride = 48) out vec4 moving;
layout(location = 3, xfb_buffer = 0, xfb_offset = 32, xfb_stride = 48) flat out ivec3 state;
layout(location = 4) out vec2 trail;
layout(location = 5, xfb_buffer = 1, xfb_offset = 8, xfb_stride = 32) out vec4 tint;
layout(location = 6) out vec4 tintOfDust;
layout(location = 7) out vec3 windForDebug;
layout(location = 8) out float exposure;
void main() {
    vec3 pushed = velocity.xyz * push.drag + push.wind.xyz * push.step;
    moving = vec4(pushed, 1.0);
    place = position + pushed * push.step;
    age = velocity.w + push.step;
    state = ivec3(seed.x * 1103 + 12345, seed.y, 7);
    trail = look.xy + pushed.xy * 0.25;
    tint = vec4(look.rgb * 0.5 + 0.25, 1.0);
    tintOfDust = vec4(look.rgb * 0.5 + 0.25, 1.0);
    windForDebug = normalize(push.wind.xyz + vec3(0.0, 2.0, 0.0));
    exposure = 0.75;
    gl_Position = vec4(position, 1.0);
}
