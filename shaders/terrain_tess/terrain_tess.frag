#version 450
// Lit terrain with fog: of the shadow position nothing, of the height all.
layout(set = 0, binding = 2) uniform sampler2D ground;
layout(location = 0) in vec3 eNormal;
layout(location = 1) in vec2 eUv;
layout(location = 3) in vec4 eSunColor;
layout(location = 4) in vec4 eFog;
layout(location = 5) in vec2 eUvAgain;
layout(location = 6) in float eHeight;
layout(location = 0) out vec4 color;
void main() {
    vec3 normal = eNormal / (length(eNormal) + 0.001);
    vec4 base = texture(ground, eUv * 4.0) + texture(ground, eUvAgain);
    vec3 lit = base.rgb * eSunColor.rgb * (0.4 + 0.6 * abs(normal.y)) + eHeight;
    color = vec4(mix(lit, eFog.rgb, 0.25), eFog.a);
}
