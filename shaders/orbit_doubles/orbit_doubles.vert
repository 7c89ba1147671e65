#version 450
// Orbits in double precision: flat 64-bit values through a geometry shader.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 centre;
layout(location = 2) in float radius;
layout(location = 0) flat out dvec3 vCentre; // two Locations
layout(location = 2) flat out double vRadius;
layout(location = 3) flat out dvec2 vEpoch;
layout(location = 4) flat out dvec2 vDead;
layout(location = 5) out vec3 vColor;
void main() {
    vCentre = dvec3(centre) / 3.0LF;
    vRadius = double(abs(radius)) + 0.1LF;
    vEpoch = dvec2(0.125LF, 0.3333333333333333LF);
    vDead = dvec2(centre.xy) * 1.0000000001LF;
    vColor = centre * 0.5 + 0.5;
    gl_Position = vec4(position, 1.0);
}
