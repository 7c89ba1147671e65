#version 450
// Attenuation is a square and stays; the hemisphere's factor is linear in the normal, emission in
// its colour.

layout(location = 0) in vec3 vToHanging;
layout(location = 1) in vec3 vToWall;
layout(location = 2) in vec3 vAmbientNormal;
layout(location = 3) in vec2 vUv;
layout(location = 4) in vec4 vEmission;

layout(set = 0, binding = 0, std140) uniform Hall {
    mat4 viewProjection;
    vec4 hanging;
    vec4 wall;
    vec4 hangingColor;
    vec4 wallColor;
    vec4 up;
    vec4 skyColor;
    vec4 floorColor;
    float dim;
} hall;

layout(set = 0, binding = 1) uniform sampler2D tileMap;

layout(location = 0) out vec4 outColor;

float reached(vec3 toLamp, float reach)
{
    vec3 scaled = toLamp / (0.5 + abs(reach));
    return 1.0 / (1.0 + dot(scaled, scaled));
}

vec3 hemisphere()
{
    float toSky = dot(vAmbientNormal, hall.up.xyz) * 0.5 + 0.5;
    return mix(abs(hall.floorColor.rgb), abs(hall.skyColor.rgb), toSky);
}

void main()
{
    vec3 light = abs(hall.hangingColor.rgb) * reached(vToHanging, hall.hanging.w);
    light += abs(hall.wallColor.rgb) * reached(vToWall, hall.wall.w);
    light += 0.25 * max(hemisphere(), 0.0);
    vec3 emission = vEmission.rgb * (vEmission.a * 0.5) * hall.dim;
    outColor = vec4(texture(tileMap, vUv).rgb * light + emission, 1.0);
}
