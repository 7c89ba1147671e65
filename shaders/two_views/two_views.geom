#version 450
// Blocks on both borders; the viewport by invocation.
layout(triangles, invocations = 2) in;
layout(triangle_strip, max_vertices = 3) out;
layout(set = 0, binding = 0) uniform Views { mat4 view[2]; vec4 tint[2]; } views;
layout(location = 0) in VertexData {
    vec3 normal;
    vec2 uv;
    vec4 tint;
    float unused;
} vertexData[];
layout(location = 0) out FragmentData {
    vec3 normal;
    vec2 uv;
    vec4 tint;
    vec4 other;
    flat int player;
} fragmentData;
void main() {
    for (int i = 0; i < gl_in.length(); ++i) {
        fragmentData.normal = vertexData[i].normal;
        fragmentData.uv = vertexData[i].uv;
        fragmentData.tint = vertexData[i].tint;
        fragmentData.other = views.tint[1];
        fragmentData.player = gl_InvocationID;
        gl_ViewportIndex = 2 + gl_InvocationID;
        gl_Position = views.view[gl_InvocationID] * gl_in[i].gl_Position;
        EmitVertex();
    }
    EndPrimitive();
}
