#version 450
// Banded cartoon shading with an ink rim.

layout(set = 0, binding = 0, std140) uniform View {
    mat4 viewProjection;
    mat4 lastViewProjection;
    vec4 eye;
    vec4 light;
    vec4 jitter;
} view;
layout(set = 0, binding = 1) uniform sampler2D baseMap;
layout(set = 0, binding = 2) uniform sampler2D rampMap;

layout(location = 1) in vec3 vNormal;
layout(location = 3) in vec4 vUv;
layout(location = 4) in vec4 vColor;
layout(location = 8) in vec3 vToEye;

layout(location = 0) out vec4 outColor;

const int BANDS = 4;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

float banded(float light)
{
    for (int band = BANDS; band > 0; --band) {
        float level = float(band) / float(BANDS);
        if (light >= level - 0.15)
            return level;
    }
    return 0.1;
}

void main()
{
    vec3 base = texture(baseMap, vUv.xy).rgb * vColor.rgb;
    vec3 n = unit(vNormal);
    vec3 eye = unit(vToEye);
    vec3 light = unit(view.light.xyz + vec3(0.2, 0.3, 1.0));
    float level = banded(dot(n, light) * 0.5 + 0.5);
    float rim = 1.0 - abs(dot(n, eye));
    if (rim > 0.85) {
        outColor = vec4(0.05, 0.04, 0.08, 1.0);
        return;
    }
    vec3 ramp = textureLod(rampMap, vec2(level, 0.5), 0.0).rgb;
    outColor = vec4(base * (0.4 + 0.6 * ramp) * (0.5 + level), 1.0);
}
