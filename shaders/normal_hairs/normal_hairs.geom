#version 450
// Two lines a vertex: normal and tangent, in two constant colours.
layout(triangles) in;
layout(line_strip, max_vertices = 12) out;
layout(location = 0) in vec3 vNormal[];
layout(location = 1) in vec4 vTangent[];
layout(location = 2) in vec3 vBitangent[];
layout(location = 3) in vec2 vUv[];
layout(location = 4) in vec4 vColor[];
layout(location = 0) out vec3 gColor;
layout(location = 1) out float gAlong;
layout(location = 2) out vec2 gUv;
void line(int i, vec3 way, vec3 color) {
    gColor = color;
    gAlong = 0.0;
    gUv = vUv[i];
    gl_Position = gl_in[i].gl_Position;
    EmitVertex();
    gColor = color;
    gAlong = 1.0;
    gUv = vUv[i];
    gl_Position = gl_in[i].gl_Position + vec4(way * 0.3, 0.0);
    EmitVertex();
    EndPrimitive();
}
void main() {
    for (int i = 0; i < 3; ++i) {
        line(i, vNormal[i], vec3(0.1, 0.4, 1.0));
        line(i, vTangent[i].xyz, vec3(1.0, 0.3, 0.1));
    }
}
