#version 450
// Rounded box by distance, with border, optional image and gradient, clipped to a rectangle.

layout(set = 0, binding = 1) uniform sampler2D image;

layout(location = 0) in vec2 vLocal;
layout(location = 0, component = 2) in vec2 vPage;
layout(location = 1) in vec4 vColor;
layout(location = 2) flat in vec4 vBorderColor;
layout(location = 3) flat in float vRadius;
layout(location = 3, component = 1) flat in float vBorder;
layout(location = 3, component = 2) flat in float vOpacity;
layout(location = 4) flat in uint vFlags;
layout(location = 5) flat in vec4 vClip;
layout(location = 6) in vec4 vGradient;

layout(location = 0) out vec4 outColor;

const uint HAS_IMAGE = 1u;
const uint HAS_GRADIENT = 2u;

float roundedBox(vec2 p, vec2 size, float radius)
{
    vec2 q = abs(p) - size + radius;
    return length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - radius;
}

void main()
{
    vec4 texel = texture(image, vLocal * 0.5 + 0.5);
    if (any(lessThan(vPage, vClip.xy)) || any(greaterThan(vPage, vClip.zw))) {
        outColor = vec4(0.0);
        return;
    }
    float distance = roundedBox(vLocal, vec2(0.9), vRadius);
    vec4 fill = vColor;
    if ((vFlags & HAS_GRADIENT) != 0u)
        fill = vGradient;
    if ((vFlags & HAS_IMAGE) != 0u)
        fill *= texel;
    float inside = 1.0 - smoothstep(-0.02, 0.02, distance);
    float rim = smoothstep(-vBorder - 0.02, -vBorder + 0.02, distance);
    vec4 color = mix(fill, vBorderColor, rim);
    color.a *= inside * vOpacity;
    outColor = vec4(color.rgb * color.a, color.a);
}
