#version 450
// A material graph with a node for every texture: each makes its own coordinates of the one uv set.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Tiling {
    mat4 viewProjection;
    vec4 detail;        // xy: scale
    vec4 macro;         // xy: scale
    float time;
} tiling;

layout(location = 0) out vec2 vUv;
layout(location = 1) out vec2 vDetailUv;    // scaled by a uniform
layout(location = 2) out vec2 vMacroUv;     // scaled by another one
layout(location = 3) out vec2 vFlippedUv;   // 1 - v
layout(location = 4) out vec2 vCenteredUv;  // -1 to 1
layout(location = 5) out vec2 vScrolledUv;  // a uniform is added

void main()
{
    vUv = inUv;
    vDetailUv = inUv * tiling.detail.xy;
    vMacroUv = inUv * tiling.macro.xy * 0.25;
    vFlippedUv = vec2(inUv.x, 1.0 - inUv.y);
    vCenteredUv = inUv * 2.0 - 1.0;
    vScrolledUv = inUv + vec2(tiling.time, -0.5 * tiling.time);
    vec4 clip = tiling.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
