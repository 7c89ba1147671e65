#version 450
// Counts covered pixels for each part and keeps the nearest depth, with atomics that commute.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 selection;
    ivec4 cursor;
    int objectId;
} scene;

layout(set = 0, binding = 1, std430) buffer Counts {
    uint pixels[16];
    uint nearest[16];
    uint touched;
} counts;

layout(location = 0) in vec3 vNormal;
layout(location = 2) flat in uvec2 vIds;
layout(location = 3) in vec4 vSelection;
layout(location = 4) in vec3 vWorld;

layout(location = 0) out uvec4 outIds;
layout(location = 1) out vec4 outColor;

vec3 colorOf(uint id)
{
    uint h = id * 2654435761u;
    return vec3(uvec3(h, h >> 8, h >> 16) & 255u) / 255.0;
}

void main()
{
    uint part = min(vIds.y, 15u);
    uint depth = uint(clamp(gl_FragCoord.z, 0.0, 1.0) * 65535.0);
    atomicAdd(counts.pixels[part], 1u);
    atomicMin(counts.nearest[part], depth);
    atomicOr(counts.touched, 1u << part);
    if (vWorld.z > 0.9) {
        outIds = uvec4(0u);
        outColor = vec4(0.0, 0.0, 0.0, 1.0);
        return;
    }
    float size = max(length(vNormal), 1e-3);
    float light = 0.5 + 0.5 * vNormal.z / size;
    vec3 color = mix(colorOf(vIds.x * 16u + part), vSelection.rgb, 0.25) * light;
    outIds = uvec4(vIds, depth, 1u);
    outColor = vec4(color, 1.0);
}
