#version 450
// Only normals and uv are kept; colours go nowhere.
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in vec3 cNormal[];
layout(location = 1) in vec2 cUv[];
layout(location = 2) in vec4 cColor[];
layout(location = 3) patch in float pSharp;
layout(location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 32) out vec3 eNormal;
layout(location = 1, xfb_buffer = 0, xfb_offset = 12, xfb_stride = 32) out vec2 eUv;
layout(location = 2) out vec4 eColor;
layout(location = 3, xfb_buffer = 0, xfb_offset = 20, xfb_stride = 32) out float eSharp;
void main() {
    vec3 t = gl_TessCoord;
    eNormal = cNormal[0] * t.x + cNormal[1] * t.y + cNormal[2] * t.z;
    eUv = cUv[0] * t.x + cUv[1] * t.y + cUv[2] * t.z;
    eColor = cColor[0] * t.x + cColor[1] * t.y + cColor[2] * t.z;
    eSharp = pSharp * 2.0;
    gl_Position = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y
        + gl_in[2].gl_Position * t.z;
}
