#version 450
// Road signs and shop fronts: an unlit material of which the whole look is fixed in the shader and
// travels as constants, because the fragment shader is shared with signs that do choose it.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform View {
    mat4 viewProjection;
    vec4 eyePosition;
} view;

struct Style {
    vec3 paint;
    float gloss;
    vec2 cell;
    int layer;
    uint kind;
};

const vec3 INKS[3] = vec3[3](vec3(0.9, 0.9, 0.85), vec3(0.75, 0.1, 0.12), vec3(0.1, 0.25, 0.6));

layout(location = 0) out vec2 vUv;
layout(location = 1) out vec4 vPaint;               // rgb: paint, a: gloss
layout(location = 2) out vec3 vEdgeColor;
layout(location = 2, component = 3) out float vFarFade;
layout(location = 3) out vec2 vCell;
layout(location = 3, component = 2) out float vWear;
layout(location = 4) flat out uint vKind;
layout(location = 4, component = 1) flat out int vLayer;
layout(location = 5) out vec3 vNormal;
layout(location = 6) out vec4 vMask;                // constants beside the uv

Style plainStyle()
{
    Style style;
    style.paint = INKS[1];
    style.gloss = 0.5;
    style.cell = vec2(6.0, 4.0);
    style.layer = -2;
    style.kind = 1u;
    return style;
}

Style worn(Style style, float age)
{
    style.paint = mix(style.paint, vec3(0.5), age);
    style.gloss *= 1.0 - age;
    return style;
}

Style reflective(Style style)
{
    style.gloss += 0.25;
    style.kind |= 1u << 4;
    style.cell = style.cell.yx * 1.5;
    return style;
}

Style signStyle()
{
    Style style = worn(plainStyle(), 0.25);
    if (style.gloss < 0.5)
        style = reflective(style);
    return style;
}

float layersOfPaint(int layers)
{
    float wear = 1.0;
    for (int i = 0; i < layers; ++i)
        wear *= 0.875;
    return wear;
}

void main()
{
    Style style = signStyle();
    vUv = inUv;
    vPaint = vec4(style.paint, style.gloss);
    vEdgeColor = vec3(0.95, 0.8, 0.1);
    vFarFade = 1e30;
    vCell = style.cell;
    vWear = layersOfPaint(3);
    vKind = style.kind;
    vLayer = style.layer;
    vNormal = inNormal;
    vMask = vec4(1.0, inUv.x, 0.0, inUv.y);
    vec4 clip = view.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
