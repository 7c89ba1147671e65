#version 450
// Varyings packed by hand with component numbers, as engines do before anyone packs for them.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;
layout(location = 3) in vec4 inColor;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 fog;
    vec4 light;
    float time;
    int id;
} scene;

layout(location = 0) out vec3 vNormal;
layout(location = 0, component = 3) out float vFog;
layout(location = 1) out vec2 vUv;
layout(location = 1, component = 2) out float vWet;
layout(location = 1, component = 3) out float vSnow;
layout(location = 2, component = 1) out vec3 vColor;
layout(location = 3, component = 0) flat out int vId;
layout(location = 3, component = 2) flat out ivec2 vCell;
layout(location = 4, component = 1) out float vBands[3];
layout(location = 4, component = 2) out vec2 vPairs[3];

void main()
{
    vec4 clip = scene.viewProjection * vec4(inPosition, 1.0);
    vNormal = inNormal;
    vFog = clamp(0.5 * abs(scene.fog.w) * clip.w, 0.0, 0.6);
    vUv = inUv;
    vWet = clamp(0.5 - inPosition.y, 0.0, 1.0);
    vSnow = clamp(inNormal.y, 0.0, 1.0);
    vColor = abs(inColor.rgb);
    vId = scene.id;
    vCell = ivec2(floor(inPosition.xy * 4.0));
    for (int i = 0; i < 3; ++i)
        vPairs[i] = inPosition.xz * float(i + 1);
    vBands[0] = inPosition.x;
    vBands[1] = inPosition.y;
    vBands[2] = sin(scene.time) * inPosition.z;
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
