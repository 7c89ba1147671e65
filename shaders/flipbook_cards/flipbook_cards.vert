#version 450
// Cards with a corner coordinate and the cell of an atlas, chosen by the vertex.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec2 inCorner;
layout(location = 2) in vec2 inCell;
layout(location = 3) in vec2 inNextCell;
layout(location = 4) in vec4 inTint;

layout(set = 0, binding = 0, std140) uniform Atlas {
    mat4 viewProjection;
    vec4 cellSize;      // xy: cell, zw: half a texel
    vec4 lamp;
    float shrink;
} atlas;

layout(location = 0) out vec2 vCorner;
layout(location = 0, component = 2) out vec2 vCell;
layout(location = 1) out vec2 vNextCell;
layout(location = 2) out vec4 vTint;

void main()
{
    vCorner = inCorner;
    vCell = abs(inCell) * 3.0;
    vNextCell = abs(inNextCell) * 3.0;
    vTint = abs(inTint);
    vec4 clip = atlas.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
