#version 450
// A colour for each cascade, as in the debug view.
layout(location = 0) in vec2 gUv;
layout(location = 1) flat in int gCascade;
layout(location = 2) in vec4 gSplits;
layout(location = 3) in float gSplit;
layout(location = 0) out vec4 color;
void main() {
    float chosen = gSplits[gCascade & 3];
    color = vec4(gUv, chosen + gSplit, float(gCascade) * 0.25 + float(gl_Layer));
}
