#version 450
// A rotated streak that cools: every flat component is used.

layout(location = 0) in vec2 vCorner;
layout(location = 1) flat in vec4 vRotation;
layout(location = 2) flat in vec3 vAge;
layout(location = 2, component = 3) flat in float vFade;
layout(location = 3) flat in uvec3 vSeed;

layout(set = 0, binding = 0, std140) uniform Burst {
    mat4 viewProjection;
    vec4 hot;
    vec4 cold;
    float strength;
} burst;

layout(location = 0) out vec4 outColor;

void main()
{
    vec2 local = mat2(vRotation.xy, vRotation.zw) * vCorner;
    float width = 0.2 + 0.5 * vAge.y;
    float streak = exp(-4.0 * local.y * local.y / (width * width) - local.x * local.x);
    vec3 glow = mix(abs(burst.cold.rgb), abs(burst.hot.rgb), clamp(vAge.z, 0.0, 1.0));
    glow *= 0.5 + vFade;
    float grain = float((vSeed.x * 747796405u + 2891336453u) >> 24) / 255.0;
    vec3 tone = vec3(float(vSeed.y) * 0.25, float(vSeed.z) * 0.125, grain);
    outColor = vec4(glow * streak + 0.1 * tone, 0.5 + 0.5 * clamp(vAge.x, 0.0, 1.0));
}
