#version 450
// Vertex-lit surface reading some members of each block; mode 2 shades again by pixel.

layout(set = 0, binding = 1) uniform sampler2D baseMap;

layout(location = 0) in Surface {
    vec3 position;
    vec3 normal;
    vec2 uv;
    vec2 lightMapUv;
    vec4 color;
    flat int mode;
} surface;

layout(location = 8) in Lighting {
    vec4 diffuse;
    vec4 ambient;
    noperspective vec2 screen;
    float fog;
} lighting;

layout(location = 0) out vec4 outColor;

vec3 lightFor(int mode)
{
    if (mode == 0)
        return lighting.ambient.rgb + lighting.diffuse.rgb;
    if (mode == 1)
        return floor(lighting.diffuse.rgb * 5.0) / 5.0 + lighting.ambient.rgb;
    float size = max(length(surface.normal), 1e-3);
    float up = surface.normal.z / size;
    return lighting.ambient.rgb + lighting.diffuse.rgb * (0.5 + 0.5 * up);
}

void main()
{
    vec3 base = texture(baseMap, surface.uv).rgb * surface.color.rgb;
    vec3 color = base * lightFor(surface.mode);
    float edge = max(abs(lighting.screen.x), abs(lighting.screen.y));
    color *= 1.0 - 0.3 * smoothstep(0.6, 1.2, edge);
    outColor = vec4(mix(color, vec3(0.5, 0.6, 0.7), lighting.fog), 1.0);
}
