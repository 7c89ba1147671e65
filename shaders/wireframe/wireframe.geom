#version 450
// Distances to the opposite edges, linear on the screen; the line's colour is the draw's.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(push_constant) uniform Push { mat4 view; vec4 lineColor; float lineWidth; } push;
layout(location = 0) in vec3 vNormal[];
layout(location = 1) in vec2 vUv[];
layout(location = 2) in vec4 vColor[];
layout(location = 3) in vec3 vWorld[];
layout(location = 0) out vec3 gNormal;
layout(location = 1) noperspective out vec3 gEdges;
layout(location = 2) out vec4 gColor;
layout(location = 3) flat out vec4 gLineColor;
layout(location = 4) out vec2 gUv;
layout(location = 5) flat out vec3 gFaceNormal;
void main() {
    vec3 face = cross(vWorld[1] - vWorld[0], vWorld[2] - vWorld[0]);
    for (int i = 0; i < 3; ++i) {
        gNormal = vNormal[i];
        gEdges = vec3(i == 0, i == 1, i == 2);
        gColor = vColor[i];
        gLineColor = push.lineColor;
        gUv = vUv[i];
        gFaceNormal = face;
        gl_Position = gl_in[i].gl_Position;
        EmitVertex();
    }
}
