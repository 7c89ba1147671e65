#version 450
// A quad, or nothing for the dead ones.
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;
layout(location = 0) in vec4 vColor[];
layout(location = 1) in float vSize[];
layout(location = 2) in float vAge[];
layout(location = 3) in int vKind[];
layout(location = 4) in vec3 vVelocity[];
layout(location = 0) out vec4 gColor;
layout(location = 1) out vec2 gUv;
layout(location = 2) flat out ivec2 gKindPage;
layout(location = 3) out vec3 gVelocity;
layout(location = 4) out float gAge;
layout(location = 5) out vec4 gColorAgain;
void corner(vec2 at) {
    gColor = vColor[0];
    gUv = at * 0.5 + 0.5;
    gKindPage = ivec2(vKind[0], 2);
    gVelocity = vVelocity[0];
    gAge = clamp(vAge[0], 0.0, 1.0);
    gColorAgain = vColor[0];
    gl_Position = gl_in[0].gl_Position + vec4(at * vSize[0], 0.0, 0.0);
    EmitVertex();
}
void main() {
    if (vAge[0] > 0.9) return;
    corner(vec2(-1.0, -1.0));
    corner(vec2(1.0, -1.0));
    corner(vec2(-1.0, 1.0));
    corner(vec2(1.0, 1.0));
    EndPrimitive();
}
