#version 450
// Ray-marched height fog with a shadow volume: leaves the loop early when nothing shines through.

layout(set = 0, binding = 0, std140) uniform Camera {
    mat4 inverseProjection;
    mat4 inverseView;
    mat4 shadowFromWorld;
    vec4 eye;
    vec4 ranges;
    vec4 fogColor;
    vec4 sun;
} camera;
layout(set = 0, binding = 1) uniform sampler2DShadow shadowMap;
layout(set = 0, binding = 2) uniform sampler3D noiseVolume;
layout(set = 0, binding = 3) uniform sampler2D depthBuffer;

layout(location = 0) in vec2 vUv;
layout(location = 2) in vec3 vWorldRay;
layout(location = 3) flat in vec3 vEye;
layout(location = 5) flat in vec2 vPlanes;

layout(location = 0) out vec4 outFog;

layout(constant_id = 3) const int STEPS = 12;

float density(vec3 p)
{
    float layer = exp(-max(p.y + 0.5, 0.0) * 1.5);
    float noise = textureLod(noiseVolume, p * 0.3 + 0.5, 0.0).r;
    return layer * (0.3 + noise);
}

float lit(vec3 p)
{
    vec4 s = camera.shadowFromWorld * vec4(p, 1.0);
    vec3 c = s.xyz / max(abs(s.w), 0.1) * 0.5 + 0.5;
    return textureLod(shadowMap, clamp(c, 0.0, 1.0), 0.0);
}

void main()
{
    float distance = mix(vPlanes.x, vPlanes.y, textureLod(depthBuffer, vUv, 0.0).r);
    float stride = distance / float(STEPS);
    float through = 1.0;
    vec3 gathered = vec3(0.0);
    vec3 sunColor = abs(camera.sun.rgb) + 0.3;
    for (int i = 0; i < STEPS; ++i) {
        vec3 p = vEye + vWorldRay * (float(i) + 0.5) * stride;
        float d = density(p);
        if (d < 0.01)
            continue;
        float absorbed = exp(-d * stride);
        vec3 inLight = abs(camera.fogColor.rgb) * 0.4 + sunColor * lit(p);
        gathered += through * (1.0 - absorbed) * inLight;
        through *= absorbed;
        if (through < 0.02)
            break;
    }
    outFog = vec4(gathered, through);
}
