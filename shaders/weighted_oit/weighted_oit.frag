#version 450
// Three targets written in several branches; the colour output is read back and changed again.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 light;
    vec4 absorb;
    float power;
    int kind;
} scene;
layout(set = 0, binding = 1) uniform sampler2D glassMap;

layout(location = 0) in vec4 vColor;
layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec2 vUv;
layout(location = 3) in vec4 vClip;
layout(location = 4) flat in int vKind;
layout(location = 5) in vec3 vThickness;

layout(location = 0) out vec4 outAccumulated;
layout(location = 1) out float outRevealed;
layout(location = 2) out vec4 outDistortion;

float weightOf(float depth, float alpha)
{
    float near = 1.0 / (0.05 + depth * depth * 4.0);
    return clamp(alpha * near, 0.01, 50.0);
}

void main()
{
    vec3 texel = texture(glassMap, vUv).rgb;
    float size = max(length(vNormal), 1e-3);
    vec3 n = vNormal / size;
    outAccumulated = vec4(texel * vColor.rgb, 0.5);
    outDistortion = vec4(0.0);
    outRevealed = 1.0;
    if (vKind == 0) {
        outAccumulated.a = vColor.a;
    } else if (vKind == 1) {
        outAccumulated.rgb *= exp(-abs(scene.absorb.rgb) * vThickness.x);
        outDistortion.xy = n.xy * 0.1;
    } else {
        outAccumulated = vec4(mix(vColor.rgb, texel, 0.5), 0.25 + 0.5 * vColor.a);
        outDistortion = vec4(n.xy * 0.05, vThickness.x, 1.0);
        if (n.z < 0.0) {
            outRevealed = 0.0;
            outAccumulated.a *= 0.5;
        }
    }
    float alpha = clamp(outAccumulated.a, 0.0, 1.0);
    float depth = vClip.z / max(vClip.w, 0.05) * 0.5 + 0.5;
    float weight = weightOf(depth, alpha);
    outAccumulated = vec4(outAccumulated.rgb * alpha, alpha) * weight;
    outRevealed *= alpha;
}
