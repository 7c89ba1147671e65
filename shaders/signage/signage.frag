#version 450
// Unlit signs: a grid of reflecting beads, an edge, worn paint. It knows nothing of who chose what.

layout(location = 0) in vec2 vUv;
layout(location = 1) in vec4 vPaint;
layout(location = 2) in vec3 vEdgeColor;
layout(location = 2, component = 3) in float vFarFade;
layout(location = 3) in vec2 vCell;
layout(location = 3, component = 2) in float vWear;
layout(location = 4) flat in uint vKind;
layout(location = 4, component = 1) flat in int vLayer;
layout(location = 5) in vec3 vNormal;
layout(location = 6) in vec4 vMask;

layout(set = 0, binding = 1) uniform sampler2D signMap;

layout(location = 0) out vec4 outColor;

const uint PAINTED = 1u;
const uint REFLECTIVE = 16u;

float beads(vec2 uv)
{
    vec2 cell = fract(uv * vCell) - 0.5;
    return 1.0 - smoothstep(0.2, 0.45, length(cell));
}

// How much of the edge a point shows: 1 on the rim of the sign, 0 inside.
float rim(vec2 uv)
{
    vec2 inside = min(fract(uv), 1.0 - fract(uv));
    return 1.0 - smoothstep(0.04, 0.06, min(inside.x, inside.y));
}

void main()
{
    vec3 texel = texture(signMap, vUv).rgb;
    vec3 color = (vKind & PAINTED) != 0u ? vPaint.rgb * (0.6 + 0.4 * texel) : texel;
    if ((vKind & REFLECTIVE) != 0u) {
        float size = max(length(vNormal), 1e-3);
        color += vPaint.a * beads(vUv) * abs(vNormal.z) / size * 0.5;
    }
    color = mix(color, vEdgeColor, rim(vMask.yw) * vMask.x + vMask.z);
    // Signs that never fade carry an enormous distance.
    float fade = clamp(vFarFade * 0.01, 0.2, 1.0);
    color *= mix(0.7, 1.0, vWear);
    float shift = clamp(float(vLayer) * 0.05, -0.2, 0.2);
    outColor = vec4(clamp(color + shift, 0.0, 1.0) * fade, 1.0);
}
