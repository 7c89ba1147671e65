#version 450
// Anti-aliased thick lines: every interpolation qualifier has a reason here.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inOther;
layout(location = 2) in float inSide;
layout(location = 3) in vec4 inColor;
layout(location = 4) in uint inPattern;

layout(set = 0, binding = 0, std140) uniform Lines {
    mat4 viewProjection;
    vec4 halo;
    float width;
    float dashScale;
    int capKind;
} lines;

layout(location = 0) smooth out vec4 vColor;
layout(location = 1) noperspective out float vAcross;
layout(location = 2) noperspective out vec2 vAlong;       // x: pixels so far, y: of how many
layout(location = 3) flat out uint vPattern;
layout(location = 4) centroid out vec3 vWorld;
layout(location = 5) flat out vec4 vHalo;
layout(location = 6) noperspective centroid out vec2 vScreen;
layout(location = 7) flat out vec2 vWidths;
layout(location = 8) smooth out float vDepth;

vec2 screenOf(vec4 clip)
{
    return clip.xy / max(clip.w, 0.05);
}

void main()
{
    vec4 here = lines.viewProjection * vec4(inPosition, 1.0);
    vec4 there = lines.viewProjection * vec4(inOther, 1.0);
    vec2 a = screenOf(here);
    vec2 b = screenOf(there);
    vec2 direction = b - a;
    float span = length(direction);
    direction = span > 1e-3 ? direction / span : vec2(1.0, 0.0);
    float side = inSide < 0.0 ? -1.0 : 1.0;
    float width = 0.2 + 0.2 * abs(lines.width);
    vec2 moved = a + vec2(-direction.y, direction.x) * side * width;

    vColor = vec4(abs(inColor.rgb), 1.0);
    vAcross = side;
    vAlong = vec2(dot(a, direction), span);
    vPattern = inPattern | 1u;
    vWorld = inPosition;
    vHalo = vec4(abs(lines.halo.rgb), 0.5);
    vScreen = moved;
    vWidths = vec2(width, 2.0 + abs(lines.dashScale) * 4.0);
    vDepth = here.w;
    float w = max(here.w, 0.1);
    gl_Position = vec4(moved * w, 0.5 * w, w);
}
