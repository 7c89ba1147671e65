#version 450
// Depth pre-pass of alpha-tested surfaces: hashed alpha test, a bias that only pushes back.

layout(set = 0, binding = 1) uniform sampler2D baseMap;

layout(location = 3) in vec4 vUv;
layout(location = 4) in vec4 vColor;
layout(location = 7) flat in ivec2 vIds;
layout(location = 9) in float vViewDepth;

layout(depth_greater) out float gl_FragDepth;
layout(location = 0) out vec2 outMoments;

float hash(ivec2 p)
{
    uint h = uint(p.x) * 1597334677u ^ uint(p.y) * 3812015801u;
    h = (h ^ (h >> 15)) * 2246822519u;
    return float(h >> 8) * (1.0 / 16777216.0);
}

void main()
{
    float alpha = texture(baseMap, vUv.xy).a * 0.5 + vColor.a * 0.5;
    float threshold = (vIds.y & 4) != 0 ? hash(ivec2(gl_FragCoord.xy)) * 0.5 : 0.3;
    if (alpha < threshold)
        discard;
    float depth = gl_FragCoord.z;
    float pushed = min(depth + 1e-4 * float(vIds.x & 7), 1.0);
    gl_FragDepth = pushed;
    outMoments = vec2(vViewDepth, vViewDepth * vViewDepth);
}
