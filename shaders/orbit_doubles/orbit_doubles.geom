#version 450
// Differences of doubles, handed on as doubles and as floats.
layout(lines) in;
layout(triangle_strip, max_vertices = 4) out;
layout(location = 0) in dvec3 vCentre[];
layout(location = 2) in double vRadius[];
layout(location = 3) in dvec2 vEpoch[];
layout(location = 4) in dvec2 vDead[];
layout(location = 5) in vec3 vColor[];
layout(location = 0) flat out dvec2 gCentre;
layout(location = 1) flat out double gRadius;
layout(location = 2) out vec3 gColor;
layout(location = 3) flat out double gEpoch;
layout(location = 4) out vec2 gAt;
void main() {
    dvec3 middle = (vCentre[0] + vCentre[1]) * 0.5LF;
    for (int i = 0; i < 4; ++i) {
        vec2 at = vec2(i & 1, i >> 1) * 2.0 - 1.0;
        gCentre = middle.xy;
        gRadius = vRadius[0];
        gColor = vColor[i & 1];
        gEpoch = vEpoch[0].y;
        gAt = at;
        gl_Position = gl_in[i & 1].gl_Position;
        gl_Position.xy += at * float(vRadius[0]) * 0.25;
        EmitVertex();
    }
    EndPrimitive();
}
