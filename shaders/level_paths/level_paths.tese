#version 450
// The levels are read back as values.
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in vec3 cNormal[];
layout(location = 1) in vec2 cUv[];
layout(location = 2) in float cRough[];
layout(location = 3) patch in float pFade;
layout(location = 0) out vec3 eNormal;
layout(location = 1) out vec4 eUvRoughFade;
layout(location = 2) out float eLevel;
layout(location = 3) out vec3 eDead;
void main() {
    vec3 t = gl_TessCoord;
    eNormal = cNormal[0] * t.x + cNormal[1] * t.y + cNormal[2] * t.z;
    eUvRoughFade.xy = cUv[0] * t.x + cUv[1] * t.y + cUv[2] * t.z;
    eUvRoughFade.z = cRough[0] * t.x + cRough[1] * t.y + cRough[2] * t.z;
    eUvRoughFade.w = pFade;
    eLevel = gl_TessLevelOuter[1] + gl_TessLevelInner[0];
    eDead = eNormal * 2.0;
    gl_Position = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y
        + gl_in[2].gl_Position * t.z;
}
