#version 450
// A soft light; the tangent is for other materials.
layout(location = 0) in vec3 eNormal;
layout(location = 1) in vec2 eUv;
layout(location = 3) in vec4 eTint;
layout(location = 0) out vec4 color;
void main() {
    float light = abs(eNormal.z) * 0.5 + 0.5;
    color = vec4(eTint.rgb * light + vec3(eUv, 0.0) * 0.25, 1.0);
}
