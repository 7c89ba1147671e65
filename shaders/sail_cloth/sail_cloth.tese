#version 450
// Bilinear, written in three ways: nested mixes, products, and a matrix of the corners.
layout(quads, equal_spacing, ccw) in;
layout(set = 0, binding = 0) uniform Sail { vec4 sun; vec4 paint; vec4 wind; float wear; } sail;
layout(location = 0) in vec4 cCloth[];
layout(location = 1) in vec4 cDirt[];
layout(location = 2) in vec2 cUv[];
layout(location = 3) in vec2 cDrift[];
layout(location = 4) in vec3 cBend[];
layout(location = 0) out vec4 eColor;
layout(location = 1) out vec2 eUv;
layout(location = 2) out vec3 eBend;
void main() {
    float u = gl_TessCoord.x, v = gl_TessCoord.y;
    vec4 cloth = mix(mix(cCloth[0], cCloth[1], u), mix(cCloth[3], cCloth[2], u), v);
    vec4 corners = vec4((1.0 - u) * (1.0 - v), u * (1.0 - v), u * v, (1.0 - u) * v);
    vec4 dirt = mat4(cDirt[0], cDirt[1], cDirt[2], cDirt[3]) * corners;
    eColor = sqrt(abs((cloth * sail.paint + 0.125) - dirt * 0.5) + 0.01);
    vec2 uv = cUv[0] * (1.0 - u) * (1.0 - v) + cUv[1] * (1.0 - v) * u + cUv[2] * v * u
        + cUv[3] * (v - u * v);
    vec2 drift = mix(mix(cDrift[0], cDrift[3], v), mix(cDrift[1], cDrift[2], v), u);
    vec2 place = uv + drift * sail.wind.xy;
    eUv = place * place;
    vec3 bend = mix(mix(cBend[0], cBend[1], u), mix(cBend[3], cBend[2], u), v);
    eBend = abs(bend);
    gl_Position = mix(mix(gl_in[0].gl_Position, gl_in[1].gl_Position, u),
                      mix(gl_in[2].gl_Position, gl_in[3].gl_Position, u), v);
    gl_Position.xyz += bend;
}
