#version 450
// Skinning once a frame: results are captured for all passes; nothing is drawn.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 tangent;
layout(location = 3) in uvec4 joints;
layout(location = 4) in vec4 weights;
layout(location = 5) in vec2 uv;
layout(set = 0, binding = 0) readonly buffer Bones { mat4 bones[]; };
layout(location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 32) out vec3 tfPosition;
layout(location = 1, xfb_buffer = 0, xfb_offset = 16, xfb_stride = 32) out vec3 tfNormal;
layout(location = 2, xfb_buffer = 1, xfb_offset = 0, xfb_stride = 16) out vec4 tfTangent;
layout(location = 3) out vec2 vUv;
layout(location = 4) out vec4 vWeights;
void main() {
    mat4 pose = bones[joints.x & 63u] * weights.x + bones[joints.y & 63u] * weights.y;
    tfPosition = (pose * vec4(position, 1.0)).xyz;
    tfNormal = mat3(pose) * normal;
    tfTangent = vec4(mat3(pose) * tangent.xyz, tangent.w);
    vUv = uv;
    vWeights = weights;
    gl_Position = vec4(tfPosition, 1.0);
    gl_PointSize = 1.0;
}
