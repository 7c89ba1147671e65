#version 450
// Warp, weft, lining and seams, each by the author who brought its own varyings.

layout(location = 0) in vec2 vUv;
layout(location = 0, component = 2) in vec2 vWeaveUv;
layout(location = 1) in vec4 vUvPair;
layout(location = 2) in vec3 vNormal;
layout(location = 3) in vec3 vBackNormal;
layout(location = 4) in vec3 vTangent;
layout(location = 5) in vec3 vTangentTurned;
layout(location = 6) flat in vec4 vThread;
layout(location = 7) flat in uvec4 vThreadBits;
layout(location = 8) centroid in vec2 vUvCentroid;
layout(location = 9) noperspective in vec2 vUvScreen;
layout(location = 10) in vec4 vGathered;
layout(location = 11) flat in vec2 vUvFlat;
layout(location = 12) centroid in vec2 vUvCentroidAgain;
layout(location = 13) flat in vec4 vThreadTurned;

layout(set = 0, binding = 1) uniform sampler2D clothMap;
layout(set = 0, binding = 2) uniform sampler2D liningMap;

layout(location = 0) out vec4 outColor;

vec3 unit(vec3 v)
{
    return v / max(length(v), 1e-3);
}

float weave(vec2 uv)
{
    vec2 wave = sin(uv * 24.0);
    return 0.5 + 0.5 * wave.x * wave.y;
}

float noise(uvec4 bits)
{
    uint mixed = bits.x ^ (bits.y >> 5) ^ (bits.z << 7) ^ bits.w;
    mixed ^= mixed >> 15;
    return float((mixed * 0x9E3779B1u) >> 24) / 255.0;
}

// 1 on the seam between two pieces; the piece is the triangle's.
float seam(vec2 uv)
{
    vec2 apart = abs(uv - vUvFlat);
    return smoothstep(0.4, 0.5, max(apart.x, apart.y));
}

void main()
{
    vec3 cloth = texture(clothMap, vUv).rgb * (0.6 + 0.4 * weave(vWeaveUv));
    vec3 lining = texture(liningMap, vUvPair.zw + 0.1 * vUvPair.xy).rgb;
    vec3 screen = texture(clothMap, vUvScreen * 2.0).rgb;
    float front = unit(vNormal).y;
    float back = unit(vBackNormal).z;
    vec3 color = mix(cloth, lining, 0.5 + 0.4 * back) + 0.1 * screen;
    float sheen = dot(unit(vTangent), unit(vTangentTurned + vec3(0.0, 2.0, 0.0)));
    color *= 0.8 + 0.2 * sheen + 0.1 * front;
    color = mix(color, abs(vThread.rgb), 0.2 * vThread.a * noise(vThreadBits));
    color += 0.05 * vThreadTurned.rgb * vThreadTurned.a;
    vec2 stitch = fract(vUvCentroid * 6.0) + 0.2 * vUvCentroidAgain;
    color *= 0.9 + 0.1 * step(0.3, stitch.x) * step(0.2, stitch.y);
    color += 0.02 * (vGathered.x + vGathered.z + vGathered.w) * vGathered.y;
    outColor = vec4(clamp(mix(color, vec3(0.1), 0.5 * seam(vUv)), 0.0, 1.0), 1.0);
}
