#version 450
// A leaf of three vertices.
layout(points) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec3 eNormal[];
layout(location = 1) in vec4 eAutumn[];
layout(location = 2) in vec4 eAutumnAgain[];
layout(location = 3) in float eFlutter[];
layout(location = 4) in vec2 eSeed[];
layout(location = 0) out vec4 gAutumn;
layout(location = 1) out vec4 gAutumnAgain;
layout(location = 2) out vec3 gNormal;
layout(location = 3) out vec2 gUv;
void main() {
    vec2 turn = eSeed[0] - 0.5;
    for (int i = 0; i < 3; ++i) {
        vec2 at = i == 0 ? turn : i == 1 ? vec2(-turn.y, turn.x) : vec2(0.4);
        gAutumn = eAutumn[0];
        gAutumnAgain = eAutumnAgain[0];
        gNormal = eNormal[0];
        gUv = at;
        gl_Position = gl_in[0].gl_Position + vec4(at * (0.2 + eFlutter[0]), 0.0, 0.0);
        EmitVertex();
    }
}
