#version 450
// Distance-field text: fill, outline and a soft shadow in one pass.

layout(set = 0, binding = 1) uniform sampler2D atlas;

layout(location = 0) in vec2 vUv;
layout(location = 1) in vec4 vFill;
layout(location = 2) flat in vec4 vOutline;
layout(location = 3) flat in vec4 vShadow;
layout(location = 4) flat in vec4 vWidths;
layout(location = 5) in vec2 vShadowUv;

layout(location = 0) out vec4 outColor;

float median(vec3 v)
{
    return max(min(v.r, v.g), min(max(v.r, v.g), v.b));
}

float coverage(float distance, float threshold, float soft)
{
    return smoothstep(threshold - soft, threshold + soft, distance);
}

vec4 over(vec4 top, vec4 bottom)
{
    float a = top.a + bottom.a * (1.0 - top.a);
    vec3 rgb = top.rgb * top.a + bottom.rgb * bottom.a * (1.0 - top.a);
    return vec4(rgb / max(a, 1e-4), a);
}

void main()
{
    float distance = median(texture(atlas, vUv).rgb);
    float soft = vWidths.w + 0.5 * fwidth(distance);
    float weight = 0.45 - vWidths.x;
    vec4 fill = vec4(vFill.rgb, coverage(distance, weight, soft));
    vec4 outline = vec4(vOutline.rgb, coverage(distance, weight - vWidths.y, soft));
    float fallen = median(texture(atlas, vShadowUv).rgb);
    float shade = coverage(fallen, weight - vWidths.y, vWidths.z + 0.01);
    vec4 shadow = vec4(vShadow.rgb, vShadow.a * shade);
    vec4 color = over(over(fill, outline), shadow);
    if (color.a < 0.004)
        discard;
    outColor = vec4(color.rgb * color.a, color.a);
}
