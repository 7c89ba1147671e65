#version 450
// An edge is drawn where the neighbour looks the other way.
layout(triangles_adjacency) in;
layout(line_strip, max_vertices = 6) out;
layout(location = 0) in vec3 vWorld[];
layout(location = 1) in vec4 vInk[];
layout(location = 2) in vec3 vNormal[];
layout(location = 3) in float vWidth[];
layout(location = 0) out vec4 gInk;
layout(location = 1) out float gWidth;
layout(location = 2) flat out int gEdge;
layout(location = 3) out vec3 gNormal;
float facing(int a, int b, int c) {
    return cross(vWorld[b] - vWorld[a], vWorld[c] - vWorld[a]).z;
}
void end(int from, int edge) {
    gInk = vInk[from];
    gWidth = vWidth[0];
    gEdge = edge;
    gNormal = vNormal[from];
    gl_Position = gl_in[from].gl_Position;
    EmitVertex();
}
void main() {
    float own = facing(0, 2, 4);
    for (int edge = 0; edge < 3; ++edge) {
        int a = edge * 2, b = (edge * 2 + 2) % 6;
        if (facing(a, edge * 2 + 1, b) * own > 0.3) continue;
        end(a, edge);
        end(b, edge);
        EndPrimitive();
    }
}
