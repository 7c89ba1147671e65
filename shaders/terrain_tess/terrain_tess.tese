#version 450
// Bilinear patch, displaced by a height map.
layout(quads, fractional_even_spacing, ccw) in;
layout(set = 0, binding = 0) uniform Frame {
    mat4 view;
    mat4 projection;
    vec4 sunColor;
    vec4 fog;
    float heightScale;
    float detail;
} frame;
layout(set = 0, binding = 1) uniform sampler2D heightMap;
layout(location = 0) in vec3 cNormal[];
layout(location = 1) in vec2 cUv[];
layout(location = 2) in vec4 cShadowPosition[];
layout(location = 3) in vec4 cSunColor[];
layout(location = 4) in float cDetail[];
layout(location = 5) patch in vec4 pFog;
layout(location = 6) patch in float pLevel;
layout(location = 0) out vec3 eNormal;
layout(location = 1) out vec2 eUv;
layout(location = 2) out vec4 eShadowPosition;
layout(location = 3) out vec4 eSunColor;
layout(location = 4) out vec4 eFog;
layout(location = 5) out vec2 eUvAgain;
layout(location = 6) out float eHeight;
vec4 bilinear(vec4 a, vec4 b, vec4 c, vec4 d) {
    return mix(mix(a, b, gl_TessCoord.x), mix(d, c, gl_TessCoord.x), gl_TessCoord.y);
}
void main() {
    vec2 uv = mix(mix(cUv[0], cUv[1], gl_TessCoord.x), mix(cUv[3], cUv[2], gl_TessCoord.x),
                  gl_TessCoord.y);
    eNormal = mix(mix(cNormal[0], cNormal[1], gl_TessCoord.x),
                  mix(cNormal[3], cNormal[2], gl_TessCoord.x), gl_TessCoord.y);
    eUv = uv;
    eUvAgain = uv;
    eShadowPosition = bilinear(cShadowPosition[0], cShadowPosition[1], cShadowPosition[2],
                               cShadowPosition[3]);
    eSunColor = cSunColor[0];
    eFog = pFog;
    vec4 place = bilinear(gl_in[0].gl_Position, gl_in[1].gl_Position, gl_in[2].gl_Position,
                          gl_in[3].gl_Position);
    float height = textureLod(heightMap, uv, 0.0).r;
    eHeight = height * cDetail[1];
    place.y += (height - 0.5) * frame.heightScale * 0.2;
    gl_Position = frame.projection * frame.view * place;
}
