#version 450
// Reflection and refraction by screen coordinates bent by two ripple maps, foam on the crests.

layout(set = 0, binding = 1) uniform sampler2D rippleMap;
layout(set = 0, binding = 2) uniform sampler2D refraction;
layout(set = 0, binding = 3) uniform sampler2D reflection;

layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec4 vRipples;
layout(location = 3) in vec4 vScreen;
layout(location = 4) in vec4 vMirror;
layout(location = 5) in vec3 vToEye;
layout(location = 7) in float vCrest;
layout(location = 8) in vec4 vShallow;
layout(location = 9) in vec4 vDeep;

layout(location = 0) out vec4 outColor;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

vec2 ripple()
{
    vec2 a = texture(rippleMap, vRipples.xy).xy;
    vec2 b = texture(rippleMap, vRipples.zw).xy;
    return a + b - 1.0;
}

void main()
{
    vec2 bend = ripple();
    vec3 n = unit(vNormal + vec3(bend * 0.4, 0.0));
    vec3 eye = unit(vToEye);
    float facing = clamp(dot(n, eye), 0.0, 1.0);
    float mirror = 0.02 + 0.98 * pow(1.0 - facing, 5.0);
    vec2 below = vScreen.xy / max(vScreen.w, 0.05) + bend * 0.05;
    vec2 above = vMirror.xy / max(vMirror.w, 0.05) + bend * 0.03;
    vec3 tint = mix(vDeep.rgb, vShallow.rgb, facing);
    vec3 body = mix(tint, texture(refraction, below).rgb * tint * 2.0, vShallow.a);
    vec3 color = mix(body, texture(reflection, above).rgb, mirror);
    float foam = smoothstep(0.5, 1.0, vCrest + bend.x);
    outColor = vec4(mix(color, vec3(0.95), foam), mix(0.8, 1.0, max(foam, mirror)));
}
