#version 450
// Tinted, glowing sprites out of an atlas of 2 x 2 pages. It declares no push constants.

layout(location = 0) in vec2 vUv;
layout(location = 1) in vec4 vColor;
layout(location = 2) in vec4 vTint;
layout(location = 3) in vec4 vGlow;
layout(location = 4) in vec2 vPulse;
layout(location = 5) flat in uvec2 vFlags;
layout(location = 6) flat in float vOutline;

layout(set = 0, binding = 0) uniform sampler2D atlas;

layout(location = 0) out vec4 outColor;

const uint GRAYSCALE = 1u;
const uint OUTLINED = 2u;

vec2 pageUv(vec2 uv, uint page)
{
    vec2 corner = vec2(float(page & 1u), float((page >> 1) & 1u));
    return (fract(uv) + corner) * 0.5;
}

float outline(vec2 uv, float width)
{
    vec2 inside = min(fract(uv), 1.0 - fract(uv));
    return 1.0 - smoothstep(width * 0.8, width, min(inside.x, inside.y));
}

void main()
{
    vec4 texel = textureLod(atlas, pageUv(vUv, vFlags.y), 0.0);
    vec4 color = texel * vColor * vTint;
    if ((vFlags.x & GRAYSCALE) != 0u)
        color.rgb = vec3(dot(color.rgb, vec3(0.3, 0.59, 0.11)));
    color.rgb += vGlow.rgb * vPulse.x * 0.5 + vPulse.y * 0.1;
    float strength = (vFlags.x & OUTLINED) != 0u ? 1.0 : 0.25;
    color.rgb = mix(color.rgb, vTint.bgr, strength * outline(vUv, vOutline));
    color.a = clamp(color.a + 0.1 * vGlow.a, 0.3, 1.0);
    outColor = vec4(clamp(color.rgb, 0.0, 1.0) * color.a, color.a);
}
