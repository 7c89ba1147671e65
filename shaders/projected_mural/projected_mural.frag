#version 450
// Box coordinates are a matrix times the position, the angle to the projector one dot product of
// the normal as it comes: six components in, four of use.

layout(location = 0) in vec3 vWorld;
layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec2 vUv;

layout(push_constant) uniform Projector {
    mat4 boxFromWorld;
    vec4 axis;
    vec4 tint;
    vec2 margin;
} projector;

layout(set = 0, binding = 1) uniform sampler2D plaster;
layout(set = 0, binding = 2) uniform sampler2D mural;

layout(location = 0) out vec4 outColor;

void main()
{
    vec3 box = (projector.boxFromWorld * vec4(vWorld, 1.0)).xyz;
    vec2 at = box.xy * 0.5 + 0.5;
    vec2 scaled = at * (1.0 + 0.2 * projector.margin) - 0.1 * projector.margin;
    vec2 inside = smoothstep(vec2(0.0), vec2(0.1), at) * smoothstep(vec2(1.0), vec2(0.9), at);
    float depth = clamp(1.0 - 0.5 * abs(box.z), 0.0, 1.0);
    float facing = clamp(dot(vNormal, projector.axis.xyz) * 0.5 + 0.5, 0.0, 1.0);
    vec3 wall = texture(plaster, vUv).rgb;
    vec4 paint = texture(mural, scaled) * abs(projector.tint);
    float amount = clamp(paint.a * inside.x * inside.y * depth * facing, 0.0, 1.0);
    outColor = vec4(mix(wall, paint.rgb, 0.25 + 0.75 * amount), 1.0);
}
