#version 450
// A fan of lines through the old positions.
layout(lines) in;
layout(line_strip, max_vertices = 8) out;
layout(location = 0) in vec3 vTrail[][4];
layout(location = 4) in vec4 vTints[][3];
layout(location = 7) in int vFrames[];
layout(location = 0) out vec4 gTints[2];
layout(location = 2) out float gAges[3];
void main() {
    for (int v = 0; v < 2; ++v) {
        for (int i = 0; i <= vFrames[v]; ++i) {
            gTints[0] = vTints[v][1];
            gTints[1] = vTints[v][0];
            gAges[0] = float(i) * 0.25;
            gAges[1] = 0.5;
            gAges[2] = gAges[0];
            gl_Position = vec4(vTrail[v][i], 1.0);
            EmitVertex();
        }
        EndPrimitive();
    }
}
