#version 450
// A street by night: two painted colours, wear and water, and where the lamps stand.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec4 inAsphalt;
layout(location = 2) in vec4 inPaint;
layout(location = 3) in vec2 inWater;
layout(location = 4) in int inKind;

layout(set = 0, binding = 0, std140) uniform Street {
    mat4 viewProjection;
    vec4 lampColor;
    vec4 moonColor;
    float wetness;
    float wear;
    int quality;
} street;

layout(location = 0) out vec3 vAsphalt;
layout(location = 1) out vec3 vPaint;
layout(location = 2) out vec2 vWater;
layout(location = 3) flat out int vKind;

void main()
{
    vAsphalt = 0.5 * abs(inAsphalt.rgb);
    vPaint = abs(inPaint.rgb);
    vWater = inWater;
    vKind = inKind & 3;
    vec4 clip = street.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
