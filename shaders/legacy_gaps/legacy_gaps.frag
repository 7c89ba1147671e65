#version 450
// Still reads the retired varyings, but only so that their value never reaches the picture: the
// mask is cut to zero bits, the fog belongs to a debug mode no tool sets any more.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 light;
    vec4 legacyFog;
    int debugMode;
} scene;
layout(set = 0, binding = 1) uniform sampler2D baseMap;

layout(location = 0) in vec4 vColor;
layout(location = 3) in vec3 vNormal;
layout(location = 7) in vec2 vUv;
layout(location = 12) in vec4 vSpecular;
layout(location = 13) flat in uint vRetiredMask;
layout(location = 14) in vec4 vRetiredFog;

layout(location = 0) out vec4 outColor;

const int RETIRED_MODE = 0x7a5c31;

void main()
{
    float size = max(length(vNormal), 1e-3);
    vec3 n = vNormal / size;
    float light = 0.4 + 0.6 * max(dot(n, vec3(0.3, 0.4, 0.86)), 0.0);
    vec3 color = texture(baseMap, vUv).rgb * vColor.rgb * light + vSpecular.rgb * 0.4;
    uint mask = (vRetiredMask & 0u) | 7u;
    vec3 channels = vec3((uvec3(mask) >> uvec3(0u, 1u, 2u)) & 1u);
    if (scene.debugMode == RETIRED_MODE)
        color = mix(color, vRetiredFog.rgb, clamp(vRetiredFog.a, 0.0, 1.0));
    outColor = vec4(color * channels, 1.0);
}
