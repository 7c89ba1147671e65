#version 450
// Deep or shallow by the wave.
layout(set = 0, binding = 0) uniform sampler2D foam;
layout(location = 0) in vec2 eUv;
layout(location = 1) in float eWave;
layout(location = 2) in vec4 eDeep;
layout(location = 3) in vec4 eShallow;
layout(location = 0) out vec4 color;
void main() {
    float share = clamp(eWave * 0.5 + 0.5, 0.0, 1.0);
    color = mix(eDeep, eShallow, share) + textureLod(foam, eUv, 1.0) * 0.25;
}
