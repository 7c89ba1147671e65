#version 450
// Ground, puddles, snow and ice. What was only written when it rains is only read then.

layout(location = 0) in vec2 vUv;
layout(location = 0, component = 2) in float vDryness;
layout(location = 0, component = 3) in float vShelter;
layout(location = 1) flat in uint vSeason;
layout(location = 1, component = 1) flat in int vRaining;
layout(location = 1, component = 2) flat in uint vKind;
layout(location = 2) in vec4 vSnow;
layout(location = 3) in vec3 vPuddle;
layout(location = 4) in float vGust;
layout(location = 4, component = 1) in float vLast;
layout(location = 4, component = 2) in float vBands;
layout(location = 5) in vec4 vIce;
layout(location = 6) in vec3 vNormal;

layout(set = 0, binding = 0, std140) uniform Weather {
    mat4 viewProjection;
    vec4 rain;
    vec4 snowColor;
    vec4 gusts;
    float time;
    float temperature;
    int octaves;
    uint kind;
} weather;

layout(set = 0, binding = 1) uniform sampler2D groundMap;

layout(location = 0) out vec4 outColor;

vec3 ground(vec3 texel)
{
    vec3 dry = texel * vec3(0.6, 0.5, 0.35);
    vec3 green = texel * vec3(0.3, 0.55, 0.2);
    vec3 color = vSeason == 2u ? dry : green;
    return mix(color, texel, vDryness);
}

vec3 wet(vec3 color, vec2 uv)
{
    float ripple = 0.5 + 0.5 * sin(uv.x * 30.0 + vGust) * sin(uv.y * 30.0 + weather.time);
    return mix(color * 0.7, vPuddle, ripple * clamp(weather.rain.x, 0.0, 1.0));
}

void main()
{
    vec3 texel = texture(groundMap, vUv).rgb;
    vec3 color = ground(texel);
    if (vRaining != 0)
        color = wet(color, vUv);
    vec3 normal = vNormal / max(length(vNormal), 1e-3);
    float lying = clamp(normal.y - vShelter + 0.3, 0.0, 1.0);
    color = mix(color, vSnow.rgb, lying * 0.5 * vSnow.a);
    float stripe = 0.5 + 0.5 * sin((vUv.x + vUv.y) * 20.0 * vBands + vLast);
    color = mix(color, vIce.rgb, 0.2 * stripe * vIce.w);
    color *= 0.85 + 0.02 * float(vKind & 15u);
    outColor = vec4(clamp(color, 0.0, 1.0), 1.0);
}
