#version 450
// Terrain chunks: control points of a coarse grid. One vertex shader for several passes.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(set = 0, binding = 0) uniform Frame {
    mat4 view;
    mat4 projection;
    vec4 sunColor;
    vec4 fog;
    float heightScale;
    float detail;
} frame;
layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out vec4 vShadowPosition; // only the shadow pass wants it
layout(location = 3) out vec4 vSunColor;       // the same for the draw
layout(location = 4) out float vDetail;
void main() {
    vNormal = normal;
    vUv = uv;
    vShadowPosition = frame.view * vec4(position.zyx, 1.0);
    vSunColor = frame.sunColor;
    vDetail = 0.5;
    gl_Position = vec4(position, 1.0);
}
