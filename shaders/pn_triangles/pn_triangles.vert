#version 450
// Point-normal triangles: a flat mesh smoothed by the tessellator.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 3) in vec4 tangent;
layout(push_constant) uniform Push { mat4 model; vec4 tint; float smoothness; } push;
layout(location = 0) out vec3 vPosition;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec2 vUv;
layout(location = 3) out vec4 vTangent;
layout(location = 4) out vec4 vTint;
void main() {
    vPosition = (push.model * vec4(position, 1.0)).xyz;
    vNormal = normal / (length(normal) + 0.01);
    vUv = uv;
    vTangent = tangent;
    vTint = push.tint * 0.5;
}
