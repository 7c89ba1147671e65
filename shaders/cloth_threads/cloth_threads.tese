#version 450
// Isolines; the colour is a mix along the thread.
layout(isolines, fractional_odd_spacing) in;
layout(location = 0) in vec3 cColor[];
layout(location = 1) in float cTension[];
layout(location = 2) in vec4 cDye[];
layout(location = 3) patch in int pSeed;
layout(location = 4) patch in vec2 pSpan;
layout(location = 0) out vec3 eColor;
layout(location = 1) out float eTension;
layout(location = 2) out vec4 eDye;
layout(location = 3) out int eSeed;
layout(location = 4) out vec2 eSpan;
void main() {
    float u = gl_TessCoord.x, v = gl_TessCoord.y;
    eColor = mix(mix(cColor[0], cColor[1], u), mix(cColor[2], cColor[3], u), v);
    eTension = mix(cTension[0], cTension[1], u);
    eDye = cDye[3];
    eSeed = pSeed;
    eSpan = pSpan;
    gl_Position = mix(mix(gl_in[0].gl_Position, gl_in[1].gl_Position, u),
                      mix(gl_in[2].gl_Position, gl_in[3].gl_Position, u), v);
}
