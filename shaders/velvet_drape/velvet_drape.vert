#version 450
// A drape: the weave and two layers of folds that add up.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in float inFold;
layout(location = 2) in float inCrease;
layout(location = 3) in vec2 inUv;
layout(location = 4) in vec3 inNormal;
layout(location = 5) in vec4 inWarp;
layout(location = 6) in vec4 inWeft;

layout(set = 0, binding = 0, std140) uniform Cloth {
    mat4 viewProjection;
    vec4 color;
    vec4 sheenDirection;
    float creaseDepth;
    float foldDepth;
} cloth;

layout(location = 0) out float vFold;
layout(location = 0, component = 1) out float vCrease;
layout(location = 0, component = 2) out vec2 vUv;
layout(location = 1) out vec3 vNormal;
layout(location = 2) out vec3 vWarp;
layout(location = 3) out vec3 vWeft;

void main()
{
    vFold = inFold;
    vCrease = inCrease * abs(inCrease);
    vUv = inUv;
    vNormal = inNormal;
    vWarp = abs(inWarp.rgb);
    vWeft = inWeft.rgb * inWeft.rgb;
    vec4 clip = cloth.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
