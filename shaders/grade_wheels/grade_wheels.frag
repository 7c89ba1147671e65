#version 450
// Lift, gain and the colour matrix are linear, so is saturation; gamma is where that ends.

layout(location = 0) in vec4 vPaint;
layout(location = 1) in vec4 vCoat;

layout(set = 0, binding = 0, std140) uniform Grade {
    mat4 viewProjection;
    mat4 channelMix;
    vec4 lift;
    vec4 gain;
    vec4 gammaPower;
    vec4 lumaWeights;
    float saturation;
    float coatAmount;
} grade;

layout(location = 0) out vec4 outColor;

vec3 saturated(vec3 color)
{
    float luma = dot(color, grade.lumaWeights.rgb * 0.4);
    return mix(vec3(luma), color, grade.saturation);
}

void main()
{
    vec3 color = mix(vPaint.rgb, vCoat.rgb, grade.coatAmount);
    color = saturated(color);
    color = mat3(grade.channelMix) * color;
    color = color * (0.8 + 0.2 * grade.gain.rgb) + 0.1 * grade.lift.rgb;
    vec3 curve = pow(max(color, 0.001), 0.5 + abs(grade.gammaPower.rgb));
    outColor = vec4(min(curve, 4.0), clamp(vPaint.a * 0.5, 0.0, 1.0));
}
