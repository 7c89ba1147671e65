#version 450
// Painted meshes in a graded scene: paint and a second coat per vertex, the wheels in the block.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec4 inPaint;
layout(location = 2) in vec4 inCoat;

layout(set = 0, binding = 0, std140) uniform Grade {
    mat4 viewProjection;
    mat4 channelMix;        // rows of the colour matrix
    vec4 lift;
    vec4 gain;
    vec4 gammaPower;
    vec4 lumaWeights;
    float saturation;
    float coatAmount;
} grade;

layout(location = 0) out vec4 vPaint;
layout(location = 1) out vec4 vCoat;

void main()
{
    vPaint = vec4(abs(inPaint.rgb), inPaint.a);
    vCoat = inCoat * inCoat;
    vec4 clip = grade.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
