#version 450
// Spherical-harmonic probes gathered in a loop: the output array is written with a dynamic index.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inWeights;

layout(set = 0, binding = 0, std140) uniform Probes {
    mat4 viewProjection;
    vec4 coefficients[16];       // four probes of four
    vec4 tint;
    int probeCount;
    int rotation;
} probes;

layout(location = 0) out vec4 vSh[4];
layout(location = 4) out vec3 vNormal;
layout(location = 5) out vec4 vInfo;         // x: how many, y: weight sum, zw: spare
layout(location = 6) out float vTrail[5];

void main()
{
    int count = clamp(probes.probeCount, 1, 4);
    vec4 weights = abs(inWeights) + 0.05;
    for (int band = 0; band < 4; ++band) {
        vec4 sum = vec4(0.0);
        for (int i = 0; i < count; ++i)
            sum += probes.coefficients[i * 4 + band] * weights[i];
        int slot = (band + probes.rotation) & 3;
        vSh[slot] = sum / dot(weights, vec4(1.0));
    }
    float trail = inPosition.x;
    for (int i = 0; i < 5; ++i) {
        vTrail[i] = trail;
        trail = trail * 0.5 + inPosition.y * 0.5;
    }
    vNormal = inNormal;
    vInfo = vec4(float(count), dot(weights, vec4(1.0)), 0.0, 1.0);
    vec4 clip = probes.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
