#version 450
// Sun shadows: four cascades, one geometry invocation each.
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 wind;
layout(push_constant) uniform Push { mat4 sun; vec4 splits; } push;
layout(location = 0) out vec2 vUv;
layout(location = 1) out vec4 vWind;
layout(location = 2) out vec4 vSplits;
void main() {
    vUv = uv;
    vWind = wind;
    vSplits = push.splits;
    gl_Position = push.sun * vec4(position, 1.0);
}
