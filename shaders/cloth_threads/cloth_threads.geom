#version 450
// Each piece of thread becomes a ribbon.
layout(lines) in;
layout(triangle_strip, max_vertices = 4) out;
layout(location = 0) in vec3 eColor[];
layout(location = 1) in float eTension[];
layout(location = 2) in vec4 eDye[];
layout(location = 3) in int eSeed[];
layout(location = 4) in vec2 eSpan[];
layout(location = 0) out vec3 gColor;
layout(location = 1) out float gTension;
layout(location = 2) out vec4 gDye;
layout(location = 3) flat out int gSeed;
layout(location = 4) out vec2 gSpan;
layout(location = 5) out float gSide;
void main() {
    for (int i = 0; i < 4; ++i) {
        int from = i >> 1;
        gColor = eColor[from];
        gTension = eTension[from];
        gDye = eDye[0];
        gSeed = eSeed[0];
        gSpan = eSpan[from];
        gSide = float(i & 1) * 2.0 - 1.0;
        gl_Position = gl_in[from].gl_Position + vec4(0.04, 0.06, 0.0, 0.0) * gSide;
        EmitVertex();
    }
}
