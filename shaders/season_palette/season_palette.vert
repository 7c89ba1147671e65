#version 450
// A field of plots, each in the colour of its season.

// A field of plots, each in the colour of its season. The palette crosses as an array that the
// fragment shader indexes by what it finds in the noise.
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 paint;

layout(set = 0, binding = 0) uniform Season {
    vec4 sun;
    float ripe;
} season;

layout(location = 0) out vec4 palette[6];
layout(location = 6) out vec2 plotUv;
layout(location = 7) flat out vec3 steps[4];

void main() {
    palette[0] = vec4(paint.rgb, 1.0);
    palette[1] = vec4(0.25, 0.5, 0.125, 1.0);
    palette[2] = vec4(paint.bgr * season.ripe, 1.0);
    palette[3] = vec4(0.75, 0.625, 0.25, 1.0);
    palette[4] = vec4(paint.rgb, 1.0);
    palette[5] = vec4(0.0, 0.0, 0.0, 1.0);
    steps[0] = vec3(0.0, 0.25, 0.5);
    steps[1] = vec3(0.125, 0.375, 0.5);
    steps[2] = vec3(0.5, 0.5, 0.75);
    steps[3] = vec3(0.25, 0.75, 1.0);
    plotUv = uv * 4.0;
    gl_Position = vec4(position, 1.0);
}
