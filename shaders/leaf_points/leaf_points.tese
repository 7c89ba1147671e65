#version 450
// Points.
layout(triangles, equal_spacing, point_mode) in;
layout(location = 0) in vec3 cNormal[];
layout(location = 1) in vec4 cAutumn[];
layout(location = 2) in vec4 cAutumnAgain[];
layout(location = 3) in float cFlutter[];
layout(location = 0) out vec3 eNormal;
layout(location = 1) out vec4 eAutumn;
layout(location = 2) out vec4 eAutumnAgain;
layout(location = 3) out float eFlutter;
layout(location = 4) out vec2 eSeed;
void main() {
    vec3 t = gl_TessCoord;
    eNormal = cNormal[0] * t.x + cNormal[1] * t.y + cNormal[2] * t.z;
    eAutumn = cAutumn[0] * t.x + cAutumn[1] * t.y + cAutumn[2] * t.z;
    eAutumnAgain = cAutumnAgain[0] * t.x + cAutumnAgain[1] * t.y + cAutumnAgain[2] * t.z;
    eFlutter = cFlutter[0];
    eSeed = t.xy;
    gl_Position = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y
        + gl_in[2].gl_Position * t.z;
}
