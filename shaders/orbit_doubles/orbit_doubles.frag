#version 450
// Rings; the low words show in an integer target.
layout(location = 0) flat in dvec2 gCentre;
layout(location = 1) flat in double gRadius;
layout(location = 2) in vec3 gColor;
layout(location = 3) flat in double gEpoch;
layout(location = 4) in vec2 gAt;
layout(location = 0) out vec4 color;
layout(location = 1) out uvec4 words;
void main() {
    double away = length(dvec2(gAt) - gCentre);
    color = vec4(gColor, float(away / (gRadius + 1.0LF)));
    words = uvec4(unpackDouble2x32(gCentre.x), unpackDouble2x32(gRadius * gEpoch));
}
