#version 450
// Interpolates everything.
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in vec3 cNormal[];
layout(location = 1) in vec2 cUv[];
layout(location = 2) patch in ivec2 pTile;
layout(location = 3) in vec4 cSplat[];
layout(location = 4) in vec3 cWater[];
layout(location = 0) out vec3 eNormal;
layout(location = 1) out vec2 eUv;
layout(location = 2) out ivec2 eTile;
layout(location = 3) out vec4 eSplat;
layout(location = 4) out vec3 eWater;
#define BLEND(v) (v[0] * gl_TessCoord[0] + v[1] * gl_TessCoord[1] + v[2] * gl_TessCoord[2])
void main() {
    eNormal = BLEND(cNormal);
    eUv = BLEND(cUv);
    eSplat = BLEND(cSplat);
    eWater = BLEND(cWater);
    eTile = pTile;
    gl_Position = gl_in[0].gl_Position * gl_TessCoord.x + gl_in[1].gl_Position * gl_TessCoord.y
        + gl_in[2].gl_Position * gl_TessCoord.z;
}
