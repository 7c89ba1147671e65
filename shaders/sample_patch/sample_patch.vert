#version 450
// Decals on smooth patches, shaded per sample.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 tone;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 vTone;
layout(location = 1) out vec2 vUv;
void main() {
    vTone = tone;
    vUv = uv;
    gl_Position = vec4(position, 1.0);
}
