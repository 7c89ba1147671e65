#version 450
// Full-screen triangle for passes that need to rebuild positions: uv, view rays and world rays.

layout(set = 0, binding = 0, std140) uniform Camera {
    mat4 inverseProjection;
    mat4 inverseView;
    mat4 shadowFromWorld;
    vec4 eye;
    vec4 ranges;        // x: near, y: far
    vec4 fogColor;
    vec4 sun;
} camera;

layout(location = 0) out vec2 vUv;
layout(location = 1) out vec3 vViewRay;
layout(location = 2) out vec3 vWorldRay;
layout(location = 3) flat out vec3 vEye;
layout(location = 4) out vec4 vNdc;
layout(location = 5) flat out vec2 vPlanes;
layout(location = 6) out vec2 vFlippedUv;

void main()
{
    int corner = gl_VertexIndex % 3;
    vec2 uv = vec2(corner == 1 ? 2.0 : 0.0, corner == 2 ? 2.0 : 0.0);
    vec2 ndc = uv * 2.0 - 1.0;
    vec4 far = camera.inverseProjection * vec4(ndc, 1.0, 1.0);
    vec3 ray = vec3(far.xy, -1.0);

    vUv = uv;
    vViewRay = ray;
    vWorldRay = mat3(camera.inverseView) * ray;
    vEye = camera.eye.xyz;
    vNdc = vec4(ndc, 1.0, 1.0);
    vPlanes = vec2(0.05 + 0.1 * abs(camera.ranges.x), 2.0 + 4.0 * abs(camera.ranges.y));
    vFlippedUv = vec2(uv.x, 1.0 - uv.y);
    gl_Position = vec4(ndc, 0.5, 1.0);
}
