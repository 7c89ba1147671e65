#version 450
// Evaluates the harmonics with constant indices; of the trail only two elements.

layout(location = 0) in vec4 vSh[4];
layout(location = 4) in vec3 vNormal;
layout(location = 5) in vec4 vInfo;
layout(location = 6) in float vTrail[5];

layout(location = 0) out vec4 outColor;

vec3 irradiance(vec3 n)
{
    vec3 sum = vSh[0].rgb * 0.28;
    sum += vSh[1].rgb * (0.49 * n.y);
    sum += vSh[2].rgb * (0.49 * n.z);
    sum += vSh[3].rgb * (0.49 * n.x);
    return max(sum + 0.4, 0.0);
}

void main()
{
    float size = length(vNormal);
    vec3 n = size > 1e-3 ? vNormal / size : vec3(0.0, 0.0, 1.0);
    vec3 color = irradiance(n);
    float stripes = 0.5 + 0.5 * sin((vTrail[1] - vTrail[4]) * 20.0);
    color *= 0.8 + 0.2 * stripes;
    color.b += 0.1 * clamp(vInfo.x * 0.25, 0.0, 1.0);
    outColor = vec4(color, vInfo.w);
}
