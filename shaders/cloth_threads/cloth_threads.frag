#version 450
// Dye over the thread's colour; spans are for the physics view.
layout(location = 0) in vec3 gColor;
layout(location = 1) in float gTension;
layout(location = 2) in vec4 gDye;
layout(location = 3) flat in int gSeed;
layout(location = 0) out vec4 color;
void main() {
    float noise = fract(float(gSeed) * 0.37);
    color = vec4(gColor * gDye.rgb + gTension * 0.2, noise);
}
