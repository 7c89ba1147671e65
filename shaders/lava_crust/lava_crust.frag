#version 450
// Cold light: the glow is another pass.
layout(location = 0) in mat3 eFrame;
layout(location = 3) in float eLayers[3];
layout(location = 6) in Crust { vec3 drift; vec4 glow; vec4 heat; } crust;
layout(location = 0) out vec4 color;
void main() {
    float light = 0.5 + 0.25 * eFrame[2].x;
    color = vec4(crust.heat.xyz * light, 1.0) + eLayers[1] * vec4(0.25, 0.125, 0.0, 0.0);
}
