#version 450
// The outline around what is selected: hulls pushed outwards. The stages share one range of push
// constants and overlay it with blocks that contradict each other.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;

layout(push_constant) uniform Outline {
    mat4 clipFromModel;
    vec4 color;             // offset 64: integers to the fragment shader
    float width;            // offset 80: the same there
    float time;             // offset 84: bits there
    uint objectId;          // offset 88: an int there
    float glow;             // offset 92: the same there
    vec4 hiddenColor;       // offset 96: beyond the end there
} outline;

layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec4 vColor;               // where the blocks contradict each other
layout(location = 2) out float vWidth;              // where they agree
layout(location = 2, component = 1) out float vGlow;
layout(location = 2, component = 2) out float vBlink;   // expression over a contradicted member
layout(location = 3) flat out uint vObject;
layout(location = 4) out vec3 vHull;
layout(location = 5) out vec4 vHiddenColor;         // handed through, nobody contradicts it

float blink(float time)
{
    return 0.6 + 0.4 * cos(time * 5.0);
}

void main()
{
    vec3 normal = inNormal / max(length(inNormal), 1e-3);
    vec3 hull = inPosition + normal * (0.05 * outline.width);
    vNormal = normal;
    vColor = outline.color;
    vWidth = outline.width;
    vGlow = outline.glow;
    vBlink = blink(outline.time);
    vObject = outline.objectId;
    vHull = hull;
    vHiddenColor = outline.hiddenColor;
    vec4 clip = outline.clipFromModel * vec4(hull, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
