#version 450
// Plain interpolation; the slope bends the surface.
layout(triangles, fractional_even_spacing, ccw) in;
layout(location = 0) in vec2 cUv[];
layout(location = 1) in float cWave[];
layout(location = 2) in float cSlope[];
layout(location = 3) in vec4 cShallow[];
layout(location = 4) patch in vec4 pDeep;
layout(location = 0) out vec2 eUv;
layout(location = 1) out float eWave;
layout(location = 2) out vec4 eDeep;
layout(location = 3) out vec4 eShallow;
layout(location = 4) out float eLevel;
void main() {
    vec3 t = gl_TessCoord;
    eUv = cUv[0] * t[0] + cUv[1] * t[1] + cUv[2] * t[2];
    eWave = cWave[2] * t.z + cWave[0] * t.x + cWave[1] * t.y;
    float slope = t.x * cSlope[0] + t.y * cSlope[1] + t.z * cSlope[2];
    eDeep = pDeep;
    eShallow = cShallow[0] * t.x + cShallow[1] * t.y + cShallow[2] * t.z;
    eLevel = gl_TessLevelInner[0];
    vec4 place = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y;
    place += gl_in[2].gl_Position * t.z;
    place.y += slope * 0.05;
    gl_Position = place;
}
