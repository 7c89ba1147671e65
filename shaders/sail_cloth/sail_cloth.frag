#version 450
// Paint on cloth.
layout(location = 0) in vec4 eColor;
layout(location = 1) in vec2 eUv;
layout(location = 2) in vec3 eBend;
layout(location = 0) out vec4 color;
void main() {
    float weave = 0.9 + 0.1 * sin(eUv.x * 9.0) * sin(eUv.y * 9.0);
    color = vec4(eColor.rgb * weave + eBend * 0.25, eColor.a);
}
