#version 450
// Stream 0 is captured and drawn as depth, stream 1 only captured; a buffer each.
layout(points) in;
layout(points, max_vertices = 2) out;
layout(location = 0) in vec4 vColor[];
layout(location = 1) in int vKind[];
layout(location = 2) in vec3 vVelocity[];
layout(location = 3) in vec2 vPadding[];
layout(stream = 0, location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 32) out vec4 near;
layout(stream = 0, location = 1, xfb_buffer = 0, xfb_offset = 16, xfb_stride = 32) out vec2 pad;
layout(stream = 1, location = 2, xfb_buffer = 1, xfb_offset = 0, xfb_stride = 32) out vec3 far;
layout(stream = 1, location = 3, xfb_buffer = 1, xfb_offset = 12, xfb_stride = 32) out int kind;
layout(stream = 1, location = 4) out vec4 nobody;
void main() {
    if (vKind[0] < 2) {
        near = vColor[0] * 2.0;
        pad = vPadding[0];
        gl_Position = gl_in[0].gl_Position;
        gl_PointSize = 4.0;
        EmitStreamVertex(0);
        EndStreamPrimitive(0);
    }
    far = vVelocity[0];
    kind = vKind[0];
    nobody = vColor[0];
    EmitStreamVertex(1);
    EndStreamPrimitive(1);
}
