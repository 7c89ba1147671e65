#version 450
// Layers blended by weights that a loop made.

// Weights of eight layers made in a loop, as a tool would generate it; the fragment shader of this
// material blends three of them.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 mask;
layout(location = 2) in vec2 uv;

layout(set = 0, binding = 0) uniform Layers {
    vec4 height[8];
    float sharp;
} layers;

layout(location = 0) out float weight[8];
layout(location = 8) out vec3 tint[4];
layout(location = 12) out vec2 layerUv;

void main() {
    float sum = 0.0;
    for (int i = 0; i < 8; ++i) {
        float apart = abs(layers.height[i].x - mask[i & 3]);
        float near = 1.0 / (0.5 + apart * layers.sharp * layers.sharp);
        weight[i] = near;
        sum += near;
    }
    for (int i = 0; i < 8; ++i) weight[i] /= sum;
    for (int i = 0; i < 4; ++i) tint[i] = layers.height[i].yzw * mask.xyz;
    layerUv = uv;
    gl_Position = vec4(position, 1.0);
}
