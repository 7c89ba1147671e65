#version 450
// A painted far landscape behind drifting haze.

layout(location = 0) in vec2 vUv;
layout(location = 1) in vec4 vColor;
layout(location = 2) in vec4 vHazeColor;
layout(location = 3) in vec4 vHaze;
layout(location = 4) in vec3 vSun;
layout(location = 4, component = 3) in float vTime;
layout(location = 5) in vec2 vScroll;
layout(location = 5, component = 2) in float vGain;
layout(location = 6) flat in int vSteps;

layout(set = 1, binding = 0) uniform sampler2D cardMap;

layout(location = 0) out vec4 outColor;

float layerOf(vec2 uv, float seed)
{
    vec2 wave = sin(uv * (5.0 + seed) + vScroll + vTime * (0.4 + seed));
    return 0.5 + 0.5 * wave.x * wave.y;
}

// Thin layers, one after the other; the number comes from the quality settings.
float drift(vec2 uv)
{
    float total = 0.0;
    int steps = clamp(vSteps, 1, 4);
    for (int i = 0; i < steps; ++i)
        total += layerOf(uv, float(i) * 0.7);
    return total / float(steps);
}

void main()
{
    vec4 card = texture(cardMap, vUv) * vColor;
    float span = max(abs(vHaze.w - vHaze.z), 0.2);
    float height = clamp((vUv.y - vHaze.z) / span, 0.0, 1.0);
    float amount = mix(vHaze.x, vHaze.y, height) * (0.5 + 0.5 * drift(vUv));
    float toSun = max(dot(vSun, vec3(vUv * 2.0 - 1.0, 0.5)), 0.0);
    vec3 glow = vHazeColor.rgb * (0.6 + 0.6 * toSun);
    vec3 color = mix(card.rgb, glow, clamp(amount, 0.0, 0.9));
    outColor = vec4(color * vGain, 0.5 * card.a * clamp(vHazeColor.a, 0.0, 1.0));
}
