#version 450
// A trail ribbon whose vertex shader uses its outputs as variables: writes, reads back, changes.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inDirection;
layout(location = 2) in vec4 inColor;
layout(location = 3) in vec2 inAgeSide;

layout(set = 0, binding = 0, std140) uniform Trail {
    mat4 viewProjection;
    vec4 headColor;
    vec4 tailColor;
    float width;
    float twist;
    int segments;
} trail;

struct Ribbon {
    vec4 color;
    vec3 position;
    vec2 uv;
    float age;
};

layout(location = 0) out Ribbon vRibbon;
layout(location = 4) out vec3 vSide;
layout(location = 5) out vec4 vGlow;
layout(location = 6) out vec4 vWork;         // scratch for the shader itself

void widen(inout vec3 position, in vec3 side, float amount)
{
    position += side * amount;
}

void main()
{
    vRibbon.age = clamp(inAgeSide.x * 0.5 + 0.5, 0.0, 1.0);
    vRibbon.color = mix(abs(trail.headColor), abs(trail.tailColor), vRibbon.age);
    vRibbon.color *= 0.5 + 0.5 * abs(inColor);
    vWork = vec4(inDirection, 0.0);
    vWork.w = dot(vWork.xyz, vWork.xyz);
    vSide = cross(vWork.xyz, vec3(0.0, 0.0, 1.0));
    if (vWork.w > 1e-4)
        vSide *= inversesqrt(vWork.w);
    else
        vSide = vec3(0.0, 1.0, 0.0);
    vRibbon.position = inPosition;
    widen(vRibbon.position, vSide, inAgeSide.y * (0.1 + 0.2 * abs(trail.width)));
    vRibbon.uv = vec2(vRibbon.age * float(clamp(trail.segments, 1, 8)), inAgeSide.y);
    vRibbon.uv.x += trail.twist * vRibbon.uv.y;
    vGlow = vRibbon.color * (1.0 - vRibbon.age);
    vGlow.a = 1.0;
    for (int i = 0; i < 3; ++i)
        vGlow.rgb = vGlow.rgb * 0.8 + vRibbon.color.rgb * 0.1;
    gl_Position = trail.viewProjection * vec4(vRibbon.position, 1.0);
    gl_Position.z = 0.5 * (gl_Position.z + gl_Position.w);
}
