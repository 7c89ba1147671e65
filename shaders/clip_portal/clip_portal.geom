#version 450
// The first distance is handed on, the second one only steers the colour.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
in gl_PerVertex {
    vec4 gl_Position;
    float gl_PointSize;
    float gl_ClipDistance[2];
} gl_in[];
out gl_PerVertex {
    vec4 gl_Position;
    float gl_ClipDistance[1];
};
layout(location = 0) in vec4 vColor[];
layout(location = 1) in vec4 vGlow[];
layout(location = 2) in vec3 vScratch[];
layout(location = 0) out vec4 gColor;
layout(location = 1) out vec4 gGlow;
layout(location = 2) out float gInside;
void main() {
    for (int i = 0; i < 3; ++i) {
        gColor = vColor[i];
        gGlow = vGlow[1];
        gInside = gl_in[i].gl_ClipDistance[1];
        gl_ClipDistance[0] = gl_in[i].gl_ClipDistance[0];
        gl_Position = gl_in[i].gl_Position;
        EmitVertex();
    }
    EndPrimitive();
}
