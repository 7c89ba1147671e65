#version 450
// Distant billboards in haze. The fragment shader declares no uniform buffer at all, so what comes
// out of this one may be read there only when the pipeline layout says so.

layout(location = 0) in vec2 inPosition;
layout(location = 1) in vec2 inUv;
layout(location = 2) in vec4 inColor;

layout(set = 1, binding = 2, std140) uniform Haze {
    mat4 viewProjection;
    vec4 color;
    vec4 density;       // x: near, y: far, z: falloff, w: wind
    vec4 height;        // x: floor, y: ceiling
    vec3 sunDirection;
    float time;
    vec2 scroll;
    float exposure;
    int steps;
} haze;

layout(location = 0) out vec2 vUv;
layout(location = 1) out vec4 vColor;
layout(location = 2) out vec4 vHazeColor;           // handed through
layout(location = 3) out vec4 vHaze;                // x, y: density, z, w: height
layout(location = 4) out vec3 vSun;
layout(location = 4, component = 3) out float vTime;
layout(location = 5) out vec2 vScroll;              // scroll * time
layout(location = 5, component = 2) out float vGain;
layout(location = 6) flat out int vSteps;

float gain(float exposure)
{
    return exp2(clamp(exposure, -2.0, 2.0)) * 1.25;
}

void main()
{
    vUv = inUv;
    vColor = vec4(0.4 + 0.5 * abs(inColor.rgb), 1.0);
    vHazeColor = haze.color;
    vHaze = vec4(haze.density.xy, haze.height.xy);
    vSun = haze.sunDirection;
    vTime = haze.time;
    vScroll = haze.scroll * haze.time;
    vGain = gain(haze.exposure);
    vSteps = haze.steps;
    vec3 place = vec3(inPosition, haze.density.z * 0.1);
    vec4 clip = haze.viewProjection * vec4(place, 1.0);
    gl_Position = vec4(clip.xy, 0.5 * clip.w, clip.w);
}
