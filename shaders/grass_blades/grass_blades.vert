#version 450
// Grass: one point a blade, everything else is grown behind.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 tint;
layout(location = 3) in float bend;
layout(set = 0, binding = 0) uniform Wind { vec4 direction; float strength; float time; } wind;
layout(location = 0) out vec3 vUp;
layout(location = 1) out vec4 vTint;
layout(location = 2) out float vBend;
layout(location = 3) out vec2 vSway;
layout(location = 4) out int vBlade;
void main() {
    vUp = normal;
    vTint = tint;
    vBend = bend;
    vSway = wind.direction.xy * wind.strength * sin(wind.time + position.x * 3.0);
    vBlade = gl_VertexIndex;
    gl_Position = vec4(position, 1.0);
}
