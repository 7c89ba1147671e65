#version 450
// Trail: an energy pattern along the ribbon, fading to the sides and with age.

layout(set = 0, binding = 1) uniform sampler2D energyMap;

struct Ribbon {
    vec4 color;
    vec3 position;
    vec2 uv;
    float age;
};

layout(location = 0) in Ribbon vRibbon;
layout(location = 5) in vec4 vGlow;

layout(location = 0) out vec4 outColor;

void main()
{
    Ribbon r = vRibbon;
    float energy = texture(energyMap, r.uv).r;
    float side = 1.0 - clamp(r.uv.y * r.uv.y, 0.0, 1.0);
    float pulse = 0.5 + 0.5 * sin(r.uv.x * 12.0);
    r.color.rgb *= 0.4 + energy * pulse;
    vec3 color = r.color.rgb + vGlow.rgb * side;
    outColor = vec4(color * (1.0 - 0.5 * r.age), side * vGlow.a);
}
