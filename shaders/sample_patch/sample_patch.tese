#version 450
// The same tone four times: each is read with another interpolation.
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in vec4 cTone[];
layout(location = 1) in vec2 cUv[];
layout(location = 0) out vec4 eTone;
layout(location = 1) out vec4 eToneSample;
layout(location = 2) out vec4 eToneCentroid;
layout(location = 3) out vec4 eToneScreen;
layout(location = 4) out vec2 eUv;
void main() {
    vec3 t = gl_TessCoord;
    vec4 tone = cTone[0] * t.x + cTone[1] * t.y + cTone[2] * t.z;
    eTone = tone;
    eToneSample = tone;
    eToneCentroid = tone;
    eToneScreen = tone;
    eUv = cUv[0] * t.x + cUv[1] * t.y + cUv[2] * t.z;
    gl_Position = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y
        + gl_in[2].gl_Position * t.z;
    gl_Position.w = 1.0 + 0.5 * t.x;
}
