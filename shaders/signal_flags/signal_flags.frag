#version 450
// Signs whose state crosses as flags.

layout(location = 0) in vec4 faceColour;
layout(location = 1) flat in uint lit;
layout(location = 2) flat in int arrow;
layout(location = 3) flat in float dim;
layout(location = 4) flat in uvec2 frame;
layout(location = 5) flat in uint code;
layout(location = 6) flat in uvec2 label;

layout(location = 0) out vec4 colour;

void main() {
    uvec2 cell = uvec2(gl_FragCoord.xy);
    uint pattern = code >> ((cell.x + uint(arrow) * cell.y) & 31u);
    vec3 face = abs(faceColour.rgb) + vec3(label >> (cell & 15u) & 3u, 1.0) * 0.125;
    if (lit != 0u && (pattern & 1u) != 0u) face += 0.5;
    if (frame.x == 4u && (cell.x & 7u) == 0u) face = face.bgr;
    if (frame.y != 0u && (cell.y & 7u) == 0u) face *= 0.5;
    colour = vec4(face * (dim + float(cell.x & 1u) * 0.125), 1.0);
}
