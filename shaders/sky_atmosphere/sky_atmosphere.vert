#version 450
// Sky dome: scattering coefficients are the same at every vertex, only the direction is not.

layout(location = 0) in vec3 inDirection;

layout(set = 0, binding = 0, std140) uniform Sky {
    mat4 viewProjection;
    vec4 sun;            // xyz: direction, w: intensity
    vec4 rayleigh;
    vec4 mie;
    float time;
    float cloudiness;
    int quality;
} sky;

layout(location = 0) out vec3 vDirection;
layout(location = 1) out vec3 vSun;
layout(location = 2) out vec3 vRayleigh;
layout(location = 3) out vec3 vMie;
layout(location = 4) out vec4 vCloudUv;
layout(location = 5) out float vHorizon;
layout(location = 6) out vec3 vNight;
layout(location = 7) out float vIntensity;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 1.0, 0.0);
}

void main()
{
    vec3 sun = unit(sky.sun.xyz + vec3(0.0, 0.3, 0.5));
    vDirection = inDirection;
    vSun = sun;
    vRayleigh = vec3(0.18, 0.42, 1.0) * (0.8 + 0.2 * sky.rayleigh.rgb);
    vMie = vec3(0.21) * (0.8 + 0.2 * sky.mie.rgb);
    vec2 plane = inDirection.xz / (abs(inDirection.y) + 0.2);
    vCloudUv = vec4(plane + sky.time * 0.01, plane * 3.0 - sky.time * 0.02);
    vHorizon = 1.0 - abs(inDirection.y);
    vNight = vec3(0.01, 0.02, 0.06);
    vIntensity = 4.0 + abs(sky.sun.w);
    vec4 clip = sky.viewProjection * vec4(inDirection.xy, 0.0, 1.0);
    gl_Position = vec4(clip.xy, clip.w * 0.999, clip.w);
}
