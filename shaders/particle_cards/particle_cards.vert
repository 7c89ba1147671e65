#version 450
// Particles: a point each.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 2) in float size;
layout(location = 3) in float age;
layout(location = 4) in int kind;
layout(location = 0) out vec4 vColor;
layout(location = 1) out float vSize;
layout(location = 2) out float vAge;
layout(location = 3) out int vKind;
layout(location = 4) out vec3 vVelocity;
void main() {
    vColor = color;
    vSize = 0.1 + 0.15 * abs(size);
    vAge = age;
    vKind = kind & 3;
    vVelocity = position.zxy;
    gl_Position = vec4(position, 1.0);
}
