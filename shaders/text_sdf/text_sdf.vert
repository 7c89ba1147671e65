#version 450
// Glyph quads of a distance-field font; styles come from a table, so most outputs are uniform.

layout(location = 0) in vec2 inPosition;
layout(location = 1) in vec2 inUv;
layout(location = 2) in vec4 inColor;
layout(location = 3) in uint inStyle;

struct Style {
    vec4 fill;
    vec4 outline;
    vec4 shadow;
    vec4 widths;         // x: weight, y: outline, z: shadow blur, w: softness
};
layout(set = 0, binding = 0, std140) uniform Text {
    mat4 screenFromPage;
    Style styles[4];
    vec2 shadowOffset;
    float pixelRange;
} text;

layout(location = 0) out vec2 vUv;
layout(location = 1) out vec4 vFill;
layout(location = 2) flat out vec4 vOutline;
layout(location = 3) flat out vec4 vShadow;
layout(location = 4) flat out vec4 vWidths;
layout(location = 5) out vec2 vShadowUv;
layout(location = 6) out vec4 vClipRect;
layout(location = 7) flat out uint vStyle;

void main()
{
    uint style = min(inStyle, 3u);
    Style s = text.styles[style];
    vUv = inUv * 0.5 + 0.5;
    vFill = abs(inColor) * 0.5 + abs(s.fill) * 0.5;
    vOutline = abs(s.outline);
    vShadow = vec4(abs(s.shadow.rgb) * 0.3, 0.6);
    vWidths = vec4(0.05, 0.1, 0.15, 0.02) * (0.5 + abs(s.widths));
    vShadowUv = vUv - 0.05 * text.shadowOffset;
    vClipRect = vec4(-1.0, -1.0, 1.0, 1.0);
    vStyle = style;
    vec4 page = vec4(inPosition, 0.5, 1.0);
    gl_Position = text.screenFromPage * page;
    gl_Position.z = 0.5 * gl_Position.w;
}
