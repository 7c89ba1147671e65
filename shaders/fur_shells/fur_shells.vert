#version 450
// Fur: the skin's vertices; shells are made by the geometry shader.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(set = 0, binding = 0) uniform Fur { vec4 rootColor; vec4 tipColor; vec4 gravity; } fur;
layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out vec4 vTipColor;
layout(location = 3) out vec3 vTangent;
void main() {
    vNormal = normal;
    vUv = uv;
    vTipColor = fur.tipColor;
    vTangent = normal.yzx;
    gl_Position = vec4(position, 1.0);
}
