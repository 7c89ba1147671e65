#version 450
// The same mixes are written in every branch: loads of one input in four blocks.

layout(location = 0) in vec3 vAsphalt;
layout(location = 1) in vec3 vPaint;
layout(location = 2) in vec2 vWater;
layout(location = 3) flat in int vKind;

layout(set = 0, binding = 0, std140) uniform Street {
    mat4 viewProjection;
    vec4 lampColor;
    vec4 moonColor;
    float wetness;
    float wear;
    int quality;
} street;

layout(set = 0, binding = 1) uniform sampler2D puddles;

layout(location = 0) out vec4 outColor;

vec3 dry()
{
    return mix(vPaint, vAsphalt, street.wear);
}

float water()
{
    return vWater.x * street.wetness + vWater.y * 0.5;
}

void main()
{
    vec3 reflected = texture(puddles, gl_FragCoord.xy / 64.0).rgb;
    vec3 color;
    if (vKind == 0) {
        color = dry() * abs(street.moonColor.rgb);
    } else if (vKind == 1) {
        float amount = clamp(water(), 0.0, 1.0);
        color = mix(dry(), reflected, amount);
    } else if (vKind == 2) {
        float amount = smoothstep(0.0, 1.5, water());
        color = dry() * (1.0 - 0.5 * amount) + abs(street.lampColor.rgb) * amount * amount;
    } else {
        color = sqrt(max(dry(), 0.0)) * 0.5;
        if (street.quality > 1)
            color += 0.1 * clamp(water(), 0.0, 1.0);
    }
    outColor = vec4(color, 1.0);
}
