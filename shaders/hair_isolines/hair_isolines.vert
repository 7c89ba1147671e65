#version 450
// Hair: four guide points a strand.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 rootColor;
layout(location = 2) in float stiffness;
layout(set = 0, binding = 0) uniform Hair {
    vec4 tipColor;
    vec4 wind;
    float strands;
    float thickness;
} hair;
layout(location = 0) out vec3 vRootColor;
layout(location = 1) out vec3 vTipColor;
layout(location = 2) out float vStiffness;
layout(location = 3) out float vThickness;
void main() {
    vRootColor = rootColor;
    vTipColor = hair.tipColor.rgb;
    vStiffness = stiffness;
    vThickness = hair.thickness;
    gl_Position = vec4(position + hair.wind.xyz * (1.0 - stiffness) * 0.1, 1.0);
}
