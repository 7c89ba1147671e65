#version 450
// Signs whose state crosses as flags.

// Signs along a line: what is lit is looked up once a sign, and crosses as flags of every type that
// came in handy.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 paint;

layout(set = 0, binding = 0, std430) readonly buffer Signs {
    uvec4 rows[];
} signs;

layout(location = 0) out vec4 faceColour;
layout(location = 1) flat out uint lit;
layout(location = 2) flat out int arrow;
layout(location = 3) flat out float dim;
layout(location = 4) flat out uvec2 frame;
layout(location = 5) flat out uint code;
layout(location = 6) flat out uvec2 label;

void main() {
    uvec4 row = signs.rows[(gl_VertexIndex / 3) & 7];
    uvec4 next = signs.rows[(gl_VertexIndex / 3 + 3) & 7];
    faceColour = paint;
    lit = row.x > 0x3fffffffu ? 1u : 0u;
    arrow = (row.y & 0x10u) != 0u ? 1 : -1;
    dim = next.z > row.z ? 0.25 : 1.0;
    frame = uvec2(next.x & 4u, next.y & 2u);
    code = row.w;
    label = next.zw;
    gl_Position = vec4(position, 1.0);
}
