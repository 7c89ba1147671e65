#version 450
// Tint and a middle rib.
layout(location = 0) in vec4 gTint;
layout(location = 1) in vec2 gUv;
layout(location = 3) flat in int gBlade;
layout(location = 0) out vec4 color;
void main() {
    float rib = abs(gUv.x - 0.5) < 0.1 ? 0.75 : 1.0;
    color = vec4(gTint.rgb * rib, 1.0) + float(gBlade & 3) * 0.03;
}
