#version 450
// Patches with colours of their own.

layout(triangles, fractional_odd_spacing) in;

layout(location = 0) in vec4 cage[];
layout(location = 1) patch in vec4 swatch[4];
layout(location = 5) patch in vec4 unused;

layout(location = 0) out vec3 shade;

void main() {
    vec3 w = gl_TessCoord;
    int band = int(w.x * 3.9) & 3;
    vec4 base = cage[0] * w.x + cage[1] * w.y + cage[2] * w.z;
    shade = base.rgb * 0.5 + swatch[band].rgb * 0.5;
    gl_Position = gl_in[0].gl_Position * w.x + gl_in[1].gl_Position * w.y
        + gl_in[2].gl_Position * w.z;
}
