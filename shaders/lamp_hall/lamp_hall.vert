#version 450
// A hall with a hanging lamp and a wall lamp: light vectors per vertex, lit per pixel.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;
layout(location = 3) in vec4 inEmission;

layout(set = 0, binding = 0, std140) uniform Hall {
    mat4 viewProjection;
    vec4 hanging;       // xyz: position, w: reach
    vec4 wall;
    vec4 hangingColor;
    vec4 wallColor;
    vec4 up;
    vec4 skyColor;
    vec4 floorColor;
    float dim;
} hall;

layout(location = 0) out vec3 vToHanging;   // position of the lamp less that of the vertex
layout(location = 1) out vec3 vToWall;
layout(location = 2) out vec3 vAmbientNormal;
layout(location = 3) out vec2 vUv;
layout(location = 4) out vec4 vEmission;

void main()
{
    vToHanging = hall.hanging.xyz - inPosition;
    vToWall = hall.wall.xyz - inPosition;
    vAmbientNormal = inNormal;
    vUv = inUv;
    vEmission = abs(inEmission);
    vec4 clip = hall.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
