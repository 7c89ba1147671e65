#version 450
// Four taps inside the pixel by interpolateAtOffset; colour at the centroid; ruler at a sample.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 sharpness;
    vec2 jitter;
    int taps;
} scene;
layout(set = 0, binding = 1) uniform sampler2D baseMap;

layout(location = 0) in vec4 vUv;
layout(location = 1) in vec4 vColor;
layout(location = 2) in vec3 vNormal;
layout(location = 3) noperspective in vec2 vScreen;
layout(location = 4) in vec2 vRuler;

layout(location = 0) out vec4 outColor;

const vec2 TAPS[4] = vec2[](vec2(-0.25, -0.125), vec2(0.125, -0.25),
                            vec2(0.25, 0.125), vec2(-0.125, 0.25));

float checker(vec2 uv)
{
    ivec2 cell = ivec2(floor(uv * 4.0));
    return float((cell.x + cell.y) & 1);
}

void main()
{
    int taps = clamp(scene.taps, 1, 4);
    float pattern = 0.0;
    for (int i = 0; i < taps; ++i)
        pattern += checker(interpolateAtOffset(vUv, TAPS[i]).xy);
    pattern /= float(taps);
    vec3 color = interpolateAtCentroid(vColor).rgb;
    vec2 ruler = interpolateAtSample(vRuler, 0);
    float line = step(0.9, fract(ruler.x)) + step(0.9, fract(ruler.y));
    vec3 texel = texture(baseMap, vUv.xy).rgb;
    float light = 0.6 + 0.4 * clamp(vNormal.z, -1.0, 1.0);
    color = mix(color, texel, 0.3 + 0.4 * pattern) * light;
    color = mix(color, vec3(0.1), clamp(line, 0.0, 1.0) * 0.5);
    vec2 shifted = interpolateAtOffset(vRuler, vec2(0.25)) - vRuler;
    float vignette = 1.0 - 0.2 * clamp(dot(vScreen, vScreen), 0.0, 2.0);
    outColor = vec4(color * vignette * (1.0 - 0.1 * clamp(abs(shifted.x), 0.0, 1.0)), 1.0);
}
