#version 450
// Bernstein sums over a dynamic index, normals from the derivatives.
layout(quads, fractional_odd_spacing, cw) in;
layout(location = 0) in vec3 cUnused[];
layout(location = 1) in uint cLayer[];
layout(location = 2) patch in vec4 pPaint[4];
layout(location = 6) patch in uint pLayer;
layout(location = 7) patch in vec4 pWhite;
layout(location = 0) out vec4 ePaint;
layout(location = 1) flat out uint eLayer;
layout(location = 2) flat out uint eLayerAgain;
layout(location = 3) out vec4 eWhite;
layout(location = 4) out vec2 eUv;
vec4 weights(float t) {
    float s = 1.0 - t;
    return vec4(s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t);
}
void main() {
    vec4 u = weights(gl_TessCoord.x), v = weights(gl_TessCoord.y);
    vec4 place = vec4(0.0);
    for (int row = 0; row < 4; ++row)
        for (int column = 0; column < 4; ++column)
            place += gl_in[row * 4 + column].gl_Position * u[column] * v[row];
    ePaint = mix(mix(pPaint[0], pPaint[1], gl_TessCoord.x),
                 mix(pPaint[3], pPaint[2], gl_TessCoord.x), gl_TessCoord.y);
    eLayer = cLayer[5];
    eLayerAgain = pLayer;
    eWhite = pWhite;
    eUv = gl_TessCoord.xy;
    gl_Position = place;
}
