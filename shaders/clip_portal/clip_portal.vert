#version 450
// Portals: clip and cull distances travel in gl_PerVertex through the geometry shader.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(push_constant) uniform Push { vec4 plane; vec4 glow; } push;
out gl_PerVertex {
    vec4 gl_Position;
    float gl_PointSize;
    float gl_ClipDistance[2];
};
layout(location = 0) out vec4 vColor;
layout(location = 1) out vec4 vGlow;
layout(location = 2) out vec3 vScratch;
void main() {
    vColor = color;
    vGlow = push.glow;
    vScratch = position * 2.0;
    gl_ClipDistance[0] = position.x + 0.6;
    gl_ClipDistance[1] = dot(position, push.plane.xyz) + 0.5;
    gl_PointSize = 1.0;
    gl_Position = vec4(position, 1.0);
}
