#version 450
// Leaves: alpha test with dithered distance fade, two-sided light, light shining through.

layout(set = 0, binding = 1) uniform sampler2D leafMap;

layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec2 vUv;
layout(location = 3) in vec4 vSeason;
layout(location = 4) in float vFade;
layout(location = 5) in vec3 vSun;
layout(location = 6) in vec3 vView;
layout(location = 7) in vec4 vGroundTint;

layout(location = 0) out vec4 outColor;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

float dither(ivec2 pixel)
{
    int order = ((pixel.x & 1) << 1) | ((pixel.x ^ pixel.y) & 1);
    return (float(order) + 0.5) * 0.25;
}

void main()
{
    vec4 leaf = texture(leafMap, vUv);
    float edge = abs(vUv.x - 0.5);
    if (leaf.a * 0.5 + 0.5 < 0.3 + edge * 0.5)
        discard;
    if (vFade < dither(ivec2(gl_FragCoord.xy)))
        discard;
    vec3 n = unit(vNormal);
    n = gl_FrontFacing ? n : -n;
    vec3 sun = unit(vSun);
    float front = max(dot(n, sun), 0.0);
    float through = max(dot(-n, sun), 0.0) * pow(max(dot(unit(-vView), sun), 0.0), 2.0);
    vec3 green = leaf.rgb * 0.5 + vSeason.rgb;
    vec3 color = green * (0.3 + 0.7 * front) + vec3(0.5, 0.6, 0.1) * through;
    color = mix(vGroundTint.rgb * color, color, vSeason.a);
    outColor = vec4(color, 1.0);
}
