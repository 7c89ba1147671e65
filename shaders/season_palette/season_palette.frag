#version 450
// A field of plots, each in the colour of its season.

layout(location = 0) in vec4 palette[6];
layout(location = 6) in vec2 plotUv;
layout(location = 7) flat in vec3 steps[4];

layout(location = 0) out vec4 colour;

void main() {
    ivec2 plot = ivec2(floor(plotUv * 2.0)) + ivec2(gl_FragCoord.xy) / 8;
    int kind = (plot.x * 3 + plot.y * 5) & 7;
    vec4 ground = palette[min(kind, 5)];
    vec3 light = steps[(plot.x + plot.y) & 3];
    colour = vec4(ground.rgb * (0.5 + light), ground.a);
}
