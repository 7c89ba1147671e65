#version 450
// Coloured panes between strips of lead, lit from behind.

layout(location = 0) in vec3 vNormal;
layout(location = 1) in vec2 vUv;
layout(location = 2) in vec4 vSkyColor;
layout(location = 3) in vec3 vGlassTint;
layout(location = 3, component = 3) in float vStrength;
layout(location = 4) flat in int vPanes;
layout(location = 5) in vec4 vDusk;
layout(location = 6) in float vEvening;
layout(location = 7) in vec3 vSunset;
layout(location = 8) in vec3 vSun;

layout(set = 0, binding = 1, std140) uniform Clock {
    vec4 seconds;
    vec4 dusk;
} clock;

layout(set = 1, binding = 0, std140) uniform Material {
    mat4 uvTransform;
    vec4 skyColor;
    vec4 glassTint;
    vec4 sunDirection;
    float strength;
    int panes;
} material;

layout(set = 1, binding = 1) uniform sampler2D glassMap;

layout(location = 0) out vec4 outColor;

// x: a number for the pane, y: 1 on the lead.
vec2 pane(vec2 uv)
{
    vec2 grid = uv * float(clamp(vPanes, 1, 8));
    vec2 cell = floor(grid);
    vec2 inside = abs(fract(grid) - 0.5);
    float hash = fract(sin(dot(cell, vec2(17.3, 41.7))) * 93.1);
    return vec2(hash, smoothstep(0.42, 0.45, max(inside.x, inside.y)));
}

void main()
{
    vec2 uv = (material.uvTransform * vec4(vUv, 0.0, 1.0)).xy;
    vec3 texel = texture(glassMap, uv).rgb;
    vec2 cell = pane(uv);
    vec3 glass = mix(vGlassTint, material.glassTint.rgb, cell.x) * (0.5 + 0.5 * texel);
    vec3 behind = mix(vSkyColor.rgb * vSkyColor.w, vDusk.rgb * vDusk.w, vEvening) + 0.3 * vSunset;
    vec3 normal = vNormal / max(length(vNormal), 1e-3);
    float sun = abs(dot(normal, vSun)) * vStrength * 0.5;
    vec3 color = glass * behind * (0.6 + sun);
    float flicker = 0.95 + 0.05 * sin(clock.seconds.x * 20.0);
    outColor = vec4(mix(color * flicker, vec3(0.05), cell.y), clamp(material.strength, 0.5, 1.0));
}
