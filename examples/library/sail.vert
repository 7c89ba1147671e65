#version 450
layout(location = 0) out vec2 vPlace;
layout(location = 1) out vec4 vCloth;   // the same at each vertex
layout(location = 2) out vec3 vNormal;  // nobody reads it
void main() {
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    vPlace = corner * 2.0;
    vCloth = vec4(0.9, 0.7, 0.4, 1.0);
    vNormal = vec3(corner, 1.0);
    gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0);
}
