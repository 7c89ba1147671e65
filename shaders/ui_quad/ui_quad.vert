#version 450
// Rounded rectangles of a user interface, batched: everything a widget needs travels flat.

layout(location = 0) in vec2 inPosition;
layout(location = 1) in vec2 inLocal;
layout(location = 2) in vec4 inColor;
layout(location = 3) in vec4 inBorder;
layout(location = 4) in uint inFlags;

layout(set = 0, binding = 0, std140) uniform Ui {
    mat4 projection;
    vec4 theme;
    vec4 clip;
    float opacity;
    float scale;
    int frame;
} ui;

layout(location = 0) out vec2 vLocal;
layout(location = 0, component = 2) out vec2 vPage;
layout(location = 1) out vec4 vColor;
layout(location = 2) flat out vec4 vBorderColor;
layout(location = 3) flat out float vRadius;
layout(location = 3, component = 1) flat out float vBorder;
layout(location = 3, component = 2) flat out float vOpacity;
layout(location = 4) flat out uint vFlags;
layout(location = 4, component = 1) flat out uint vTexture;
layout(location = 5) flat out vec4 vClip;
layout(location = 6) out vec4 vGradient;

void main()
{
    vLocal = inLocal;
    vPage = inPosition;
    vColor = vec4(abs(inColor.rgb), 0.9);
    vBorderColor = vec4(abs(inBorder.rgb), 1.0);
    vRadius = 0.1 + 0.3 * abs(inBorder.a);
    vBorder = 0.05 + 0.05 * abs(ui.scale);
    vOpacity = 0.5 + 0.5 * clamp(ui.opacity, 0.0, 1.0);
    vFlags = inFlags & 7u;
    vTexture = (inFlags >> 3) & 15u;
    vClip = vec4(-0.95, -0.95, 0.95, 0.95) + 0.1 * ui.clip;
    vGradient = mix(vColor, abs(ui.theme), inLocal.y * 0.5 + 0.5);
    vec4 p = ui.projection * vec4(inPosition, 0.0, 1.0);
    gl_Position = vec4(p.xy, 0.5 * p.w, p.w);
}
