#version 450
// Two names for one colour.
layout(location = 0) in vec4 gAutumn;
layout(location = 1) in vec4 gAutumnAgain;
layout(location = 2) in vec3 gNormal;
layout(location = 3) in vec2 gUv;
layout(location = 0) out vec4 color;
void main() {
    color = mix(gAutumn, gAutumnAgain.zyxw, 0.5) * (0.5 + 0.5 * abs(gNormal.y));
    color.xy += gUv * 0.1;
}
