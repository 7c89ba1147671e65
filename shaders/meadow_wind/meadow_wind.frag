#version 450
// Blades from root to tip: ground colour below, a gradient, a highlight where the wind bends them.

layout(location = 0) in vec2 vUv;
layout(location = 0, component = 2) in float vBend;
layout(location = 0, component = 3) in float vRest;
layout(location = 1) flat in vec4 vBlade;
layout(location = 2) flat in ivec3 vVariant;
layout(location = 3) in vec3 vGround;

layout(set = 0, binding = 0, std140) uniform Wind {
    mat4 viewProjection;
    vec4 tipColor;
    vec4 rootColor;
    vec4 gust;
    float time;
} wind;

layout(set = 0, binding = 1) uniform sampler2D bladeMap;

layout(location = 0) out vec4 outColor;

void main()
{
    float up = clamp(vUv.y, 0.0, 1.0);
    vec3 root = vGround * 0.5 + abs(wind.rootColor.rgb) * 0.5;
    vec3 color = mix(root, abs(wind.tipColor.rgb), up);
    color *= texture(bladeMap, vUv).rgb + 0.25;
    float shine = clamp(vBend * vBend, 0.0, 1.0) * vBlade.z;
    float dull = clamp(vRest, 0.0, 1.0) * vBlade.y;
    color += 0.4 * shine - 0.1 * dull;
    color *= 0.9 + 0.1 * sin(vBlade.x * 5.0 + vBlade.w);
    color.g += 0.02 * float(vVariant.x) + 0.01 * float(vVariant.y);
    color.r += 0.03 * float(vVariant.z);
    outColor = vec4(max(color, 0.0), 1.0);
}
