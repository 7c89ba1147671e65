#version 450
// Serves every shading model of a material editor; the model's number is per draw.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inTangent;
layout(location = 3) in vec2 inUv;
layout(location = 4) in uint inModel;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 lights[4];          // xyz: direction, w: strength
    vec4 baseColor;
    vec4 clearCoat;
    int lightCount;
    int maskBits;
} scene;

layout(location = 0) out vec3 vPosition;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec3 vTangent;
layout(location = 3) out vec2 vUv;
layout(location = 4) flat out uint vModel;
layout(location = 5) out vec3 vView;
layout(location = 6) out vec4 vBase;
layout(location = 7) out vec4 vCoat;
layout(location = 8) out float vSheen;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

float sheenOf(vec3 n, vec3 view)
{
    float facing = abs(dot(n, view));
    if (facing > 0.95)
        return 0.0;
    for (int i = 0; i < 3; ++i) {
        if (facing > 0.7 - 0.2 * float(i))
            return 0.2 * float(i + 1);
    }
    return 1.0;
}

void main()
{
    vPosition = inPosition;
    vNormal = unit(inNormal);
    vTangent = inTangent.xyz;
    vUv = inUv;
    vModel = inModel % 5u;
    vView = unit(vec3(0.0, 0.0, 2.0) - inPosition);
    vBase = vec4(abs(scene.baseColor.rgb) * 0.6 + 0.3, 1.0);
    vCoat = abs(scene.clearCoat);
    vSheen = sheenOf(unit(inNormal), unit(vec3(0.0, 0.0, 2.0) - inPosition));
    vec4 clip = scene.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
