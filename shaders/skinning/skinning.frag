#version 450
// Character surface: team colour mask, hit flash, outline where highlighted.

layout(set = 0, binding = 3) uniform sampler2D bodyMap;
layout(set = 0, binding = 4) uniform sampler2D maskMap;

layout(location = 0) in vec3 vPosition;
layout(location = 1) in vec3 vNormal;
layout(location = 3) in vec2 vUv;
layout(location = 5) in vec4 vTeam;
layout(location = 6) in float vHit;
layout(location = 7) flat in int vHighlight;

layout(location = 0) out vec4 outColor;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

float hemisphere(vec3 n)
{
    return 0.55 + 0.45 * n.z + 0.1 * n.y;
}

void main()
{
    vec3 n = unit(vNormal);
    vec3 body = texture(bodyMap, vUv).rgb;
    float mask = texture(maskMap, vUv).r;
    vec3 color = mix(body, body * vTeam.rgb * 1.5, mask) * hemisphere(n);
    color += vec3(1.0, 0.3, 0.2) * clamp(vHit, 0.0, 1.0);
    if (vHighlight > 0) {
        float rim = 1.0 - abs(n.z);
        color = mix(color, vec3(1.0, 0.9, 0.3), rim * 0.7);
    }
    color *= 0.9 + 0.1 * cos(vPosition.y * 20.0);
    outColor = vec4(color, vTeam.a);
}
