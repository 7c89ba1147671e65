#version 450
// Two strand highlights along the tangent; coverage at every sample from the strand's profile.

layout(location = 0) in vec3 vTangent;
layout(location = 1) sample in vec2 vUv;
layout(location = 2) sample in vec4 vStrand;     // declared for the lit variants, not read here
layout(location = 3) in vec4 vColor;
layout(location = 4) in vec3 vToEye;
layout(location = 5) in vec3 vToLight;
layout(location = 6) centroid in float vRoot;

layout(location = 0) out vec4 outColor;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(1.0, 0.0, 0.0);
}

float highlight(vec3 tangent, vec3 halfway, float power)
{
    float along = dot(tangent, halfway);
    float across = sqrt(max(1.0 - along * along, 0.0));
    return pow(across, power);
}

void main()
{
    vec3 tangent = unit(vTangent);
    vec3 eye = unit(vToEye);
    vec3 light = unit(vToLight);
    vec3 halfway = unit(eye + light);
    float strands = abs(fract(vUv.x * 16.0) - 0.5) * 2.0;
    float alpha = smoothstep(0.1, 0.4, strands) * (1.0 - 0.5 * vUv.y);
    if (alpha < 0.05)
        discard;
    float wrap = clamp(dot(tangent, light) * 0.5 + 0.5, 0.0, 1.0);
    vec3 color = vColor.rgb * (0.3 + 0.7 * sqrt(max(1.0 - wrap * wrap, 0.0)));
    color += 0.3 * highlight(unit(tangent + 0.1 * eye), halfway, 80.0);
    color += vColor.rgb * 0.5 * highlight(unit(tangent - 0.1 * eye), halfway, 20.0);
    outColor = vec4(color * (0.5 + 0.5 * vRoot), alpha);
}
