#version 450
// Flip-book page by kind and age.
layout(set = 0, binding = 0) uniform sampler2DArray pages;
layout(location = 0) in vec4 gColor;
layout(location = 1) in vec2 gUv;
layout(location = 2) flat in ivec2 gKindPage;
layout(location = 4) in float gAge;
layout(location = 5) in vec4 gColorAgain;
layout(location = 0) out vec4 color;
void main() {
    vec4 texel = textureLod(pages, vec3(gUv, float(gKindPage.x + gKindPage.y)), 0.0);
    color = texel * gColor * (1.0 - gAge * 0.5) + gColorAgain * 0.125;
}
