#version 450
// Strands get thinner with height.
layout(set = 0, binding = 1) uniform sampler2D strands;
layout(location = 0) in vec2 gUv;
layout(location = 1) in float gHeight;
layout(location = 2) in vec4 gTipColor;
layout(location = 4) in float gHeightAgain;
layout(location = 5) in float gLayers;
layout(location = 0) out vec4 color;
void main() {
    float strand = textureLod(strands, gUv * 4.0, 0.0).r;
    if (strand < gHeight * 0.5) discard;
    color = mix(vec4(0.2, 0.1, 0.05, 1.0), gTipColor, gHeightAgain) * (strand + gLayers * 0.1);
}
