#version 450
// Debug view: normals as lines. The mesh's usual vertex shader.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 tangent;
layout(location = 3) in vec2 uv;
layout(location = 4) in vec4 color;
layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec4 vTangent;
layout(location = 2) out vec3 vBitangent;
layout(location = 3) out vec2 vUv;
layout(location = 4) out vec4 vColor;
void main() {
    vNormal = normal;
    vTangent = tangent;
    vBitangent = cross(normal, tangent.xyz) * tangent.w;
    vUv = uv;
    vColor = color;
    gl_Position = vec4(position, 1.0);
}
