#version 450
// Waves on a coarse grid, refined by what the neighbours do.
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(push_constant) uniform Push { vec4 deep; vec4 shallow; float time; float choppiness; } push;
layout(location = 0) out vec2 vUv;
layout(location = 1) out float vWave;
layout(location = 2) out vec4 vDeep;
layout(location = 3) out vec4 vShallow;
void main() {
    vUv = uv;
    vWave = sin(position.x * 7.0 + push.time) * cos(position.y * 5.0);
    vDeep = push.deep;
    vShallow = push.shallow;
    gl_Position = vec4(position, 1.0);
}
