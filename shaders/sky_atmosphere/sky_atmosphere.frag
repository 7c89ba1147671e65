#version 450
// Single scattering by a short march through an exponential atmosphere, sun disc and clouds.

layout(set = 0, binding = 1) uniform sampler2D cloudMap;

layout(location = 0) in vec3 vDirection;
layout(location = 1) in vec3 vSun;
layout(location = 2) in vec3 vRayleigh;
layout(location = 3) in vec3 vMie;
layout(location = 4) in vec4 vCloudUv;
layout(location = 6) in vec3 vNight;
layout(location = 7) in float vIntensity;

layout(location = 0) out vec4 outColor;

const int STEPS = 8;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 1.0, 0.0);
}

float pathLength(float y)
{
    return 1.0 / max(y + 0.15, 0.06);
}

vec3 scattered(vec3 direction, vec3 sun)
{
    float cosine = dot(direction, sun);
    float rayleighPhase = 0.06 * (1.0 + cosine * cosine);
    float g = 0.76;
    float miePhase = 0.08 * (1.0 - g * g) / pow(max(1.0 + g * g - 2.0 * g * cosine, 0.01), 1.5);
    float whole = pathLength(direction.y);
    vec3 sum = vec3(0.0);
    for (int i = 0; i < STEPS; ++i) {
        float along = (float(i) + 0.5) / float(STEPS);
        float density = exp(-along * max(direction.y, 0.0) * 3.0);
        vec3 out1 = (vRayleigh + vMie) * (along * whole * 0.3);
        vec3 out2 = (vRayleigh + vMie) * (density * pathLength(sun.y) * 0.2);
        vec3 light = exp(-(out1 + out2)) * density;
        sum += light * (vRayleigh * rayleighPhase + vMie * miePhase);
    }
    return sum * (whole / float(STEPS));
}

void main()
{
    vec3 direction = unit(vDirection);
    vec3 sun = unit(vSun);
    vec3 color = scattered(direction, sun) * vIntensity + vNight;
    float disc = smoothstep(0.995, 0.999, dot(direction, sun));
    color += vec3(1.0, 0.9, 0.7) * disc * 5.0;
    float cloud = texture(cloudMap, vCloudUv.xy).r * texture(cloudMap, vCloudUv.zw).g;
    if (direction.y > -0.2) {
        float veil = smoothstep(0.2, 0.6, cloud) * smoothstep(-0.2, 0.1, direction.y);
        color = mix(color, vec3(0.8) * (0.3 + 0.7 * max(sun.y, 0.0)), veil);
    }
    outColor = vec4(color, 1.0);
}
