#version 450
// Point light: the casters of all six faces at once.
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec3 normal;
layout(set = 0, binding = 0) uniform Light { mat4 faces[6]; vec4 place; float range; } light;
layout(location = 0) out vec3 vWorld;
layout(location = 1) out vec2 vUv;
layout(location = 2) out vec3 vNormal;
layout(location = 3) out float vRange;
void main() {
    vWorld = position;
    vUv = uv;
    vNormal = normal;
    vRange = light.range;
    gl_Position = vec4(position, 1.0);
}
