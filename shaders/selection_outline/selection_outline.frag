#version 450
// Draws the outline and writes the object's number; it reads the colour as a key of four integers.

layout(location = 0) in vec3 vNormal;
layout(location = 1) in vec4 vColor;
layout(location = 2) in float vWidth;
layout(location = 2, component = 1) in float vGlow;
layout(location = 2, component = 2) in float vBlink;
layout(location = 3) flat in uint vObject;
layout(location = 4) in vec3 vHull;
layout(location = 5) in vec4 vHiddenColor;

layout(push_constant) uniform Key {
    layout(offset = 64) uvec4 bits;
    layout(offset = 80) float width;
    layout(offset = 84) uint timeBits;
    layout(offset = 88) int object;
    layout(offset = 92) float glow;
} key;

layout(location = 0) out vec4 outColor;
layout(location = 1) out uvec2 outObject;

// A small number out of bits that are somebody else's floats.
uint folded(uvec4 bits)
{
    uint mixed = bits.x ^ (bits.y >> 3) ^ (bits.z >> 7) ^ (bits.w >> 11);
    mixed ^= mixed >> 16;
    return (mixed ^ (mixed >> 8)) & 255u;
}

float stripe(vec3 hull, float width)
{
    float scale = 4.0 + 8.0 * clamp(width, 0.0, 1.0);
    return 0.8 + 0.2 * sin((hull.x + hull.y + hull.z) * scale);
}

void main()
{
    float edge = 1.0 - abs(vNormal.z) / max(length(vNormal), 1e-3);
    float line = stripe(vHull, vWidth) * (0.5 + 0.5 * edge);
    vec3 shown = mix(vColor.rgb, vHiddenColor.rgb, 0.5 * vHiddenColor.a * (1.0 - edge));
    vec3 color = shown * vBlink * line + 0.2 * vGlow;
    color += 0.05 * (key.width + key.glow);
    outColor = vec4(clamp(color, 0.0, 1.0), 0.5 * vColor.a);
    uint number = folded(key.bits ^ key.timeBits) + uint(clamp(key.object, 0, 255));
    outObject = uvec2(vObject + 1u, number);
}
