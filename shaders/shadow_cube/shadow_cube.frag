#version 450
// Writes the distance as depth; holes by alpha.
layout(set = 0, binding = 1) uniform sampler2D albedo;
layout(location = 0) in vec3 gToLight;
layout(location = 1) in vec2 gUv;
layout(location = 2) in float gRange;
void main() {
    if (textureLod(albedo, gUv, 0.0).a < 0.65) discard;
    gl_FragDepth = clamp(length(gToLight) / (gRange + 2.0), 0.0, 1.0);
}
