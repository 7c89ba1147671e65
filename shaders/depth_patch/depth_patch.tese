#version 450
// Displaces along the normal; there is no fragment shader behind.
layout(triangles, equal_spacing, ccw) in;
layout(set = 0, binding = 0) uniform sampler2D heightMap;
layout(location = 0) in vec3 cNormal[];
layout(location = 1) in vec2 cUv[];
layout(location = 2) in vec4 cColor[];
layout(location = 0) out vec3 eNormal;
layout(location = 1) out vec2 eUv;
layout(location = 2) out vec4 eColor;
void main() {
    vec3 t = gl_TessCoord;
    eNormal = cNormal[0] * t.x + cNormal[1] * t.y + cNormal[2] * t.z;
    eUv = cUv[0] * t.x + cUv[1] * t.y + cUv[2] * t.z;
    eColor = cColor[0] * t.x + cColor[1] * t.y + cColor[2] * t.z;
    vec4 place = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y
        + gl_in[2].gl_Position * t.z;
    place.xyz += eNormal * (textureLod(heightMap, eUv, 0.0).r - 0.5) * 0.2;
    gl_Position = place;
}
