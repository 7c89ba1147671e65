#version 450
// Split screen: the same mesh for two players.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(set = 0, binding = 0) uniform Views { mat4 view[2]; vec4 tint[2]; } views;
layout(location = 0) out VertexData {
    vec3 normal;
    vec2 uv;
    vec4 tint;
    float unused;
} vertexData;
void main() {
    vertexData.normal = normal;
    vertexData.uv = uv;
    vertexData.tint = views.tint[0];
    vertexData.unused = 1.0;
    gl_Position = vec4(position, 1.0);
}
