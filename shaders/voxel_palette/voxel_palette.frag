#version 450
// Blocks with mortar between them; the part of the position that floats lose shows as a grain.

layout(location = 0) in vec3 vNormal;
layout(location = 1) in vec4 vBlockColor;
layout(location = 2) in vec4 vMortarColor;
layout(location = 3) flat in uint vMaterial;
layout(location = 3, component = 1) flat in int vLayer;
layout(location = 3, component = 2) flat in int vTopLayer;
layout(location = 4) in vec3 vChunkOffset;
layout(location = 5) in vec3 vRoundOff;
layout(location = 6) in vec3 vRelative;
layout(location = 7) in vec3 vMixed;

layout(set = 0, binding = 0, std140) uniform World {
    mat4 viewProjection;
    vec4 cameraHigh;
    vec4 cameraLow;
    vec4 chunkHigh;
    vec4 chunkLow;
    vec4 palette[16];
    ivec4 layers[4];
} world;

layout(set = 0, binding = 1) uniform sampler2DArray blockMaps;

layout(location = 0) out vec4 outColor;

float mortar(vec3 p)
{
    vec3 inside = abs(fract(p * 4.0) - 0.5);
    return smoothstep(0.42, 0.46, max(inside.x, max(inside.y, inside.z)));
}

vec3 mapped(vec2 uv, int layer)
{
    return texture(blockMaps, vec3(uv, float(clamp(layer, 0, 3)))).rgb;
}

void main()
{
    vec3 side = mapped(vRelative.xy, vLayer);
    vec3 top = mapped(vRelative.xz, vTopLayer);
    vec3 normal = vNormal / max(length(vNormal), 1e-3);
    vec3 texel = mix(side, top, abs(normal.y));
    vec3 block = mix(vBlockColor.rgb * vBlockColor.w, vMixed, 0.25) * (0.5 + 0.5 * texel);
    float joint = mortar(vRelative + 0.1 * vChunkOffset);
    vec3 color = mix(block, vMortarColor.rgb * vMortarColor.w, joint);
    float grain = clamp(dot(abs(vRoundOff), vec3(4096.0)), 0.0, 1.0);
    color *= 0.9 + 0.1 * grain + 0.02 * float(vMaterial & 3u);
    float haze = clamp(0.1 * abs(world.cameraLow.w), 0.0, 0.2);
    outColor = vec4(mix(color, vec3(0.6, 0.7, 0.8), haze), 1.0);
}
