#version 450
// Sorting a point cloud by kind.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 2) in int kind;
layout(location = 3) in vec3 velocity;
layout(location = 0) out vec4 vColor;
layout(location = 1) out int vKind;
layout(location = 2) out vec3 vVelocity;
layout(location = 3) out vec2 vPadding;
void main() {
    vColor = color;
    vKind = kind;
    vVelocity = velocity;
    vPadding = vec2(0.0, 1.0);
    gl_Position = vec4(position, 1.0);
}
