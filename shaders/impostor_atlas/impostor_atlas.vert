#version 450
// Impostors: a ring of pictures around an object. The parameters are floats to this shader, packed
// integers to the fragment shader's declaration of the same binding.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec2 inUv;
layout(location = 2) in vec4 inInstance;

layout(set = 0, binding = 0, std140) uniform Impostor {
    mat4 viewProjection;
    vec4 tint;              // the fragment shader declares a uvec4 here
    vec4 frames;            // x: columns, y: rows, z: frame, w: blend
    vec4 wind;
    float alphaCut;
    float time;
    vec2 texelSize;
} impostor;

layout(location = 0) out vec2 vUv;
layout(location = 1) out vec4 vTint;                // where the declarations disagree
layout(location = 2) out vec4 vFrames;              // where they agree
layout(location = 3) out float vAlphaCut;           // agrees too
layout(location = 3, component = 1) out float vTime;   // the other declaration has an int here
layout(location = 3, component = 2) out vec2 vTexelSize;   // not in the other declaration
layout(location = 4) out vec3 vVariation;
layout(location = 5) out vec4 vWindTint;            // expression over both kinds

vec2 framesOf(vec4 frames)
{
    return max(floor(1.0 + abs(frames.xy) * 3.0), 1.0);
}

void main()
{
    float sway = sin(impostor.time * 3.0 + inInstance.w) * 0.05;
    vec3 place = inPosition + impostor.wind.xyz * sway;
    vUv = inUv;
    vTint = impostor.tint;
    vFrames = vec4(framesOf(impostor.frames), impostor.frames.zw);
    vAlphaCut = impostor.alphaCut * 0.2;
    vTime = impostor.time;
    vTexelSize = impostor.texelSize;
    vVariation = 0.7 + 0.3 * abs(inInstance.xyz);
    vWindTint = impostor.frames * 0.5 + impostor.tint * 0.5;
    vec4 clip = impostor.viewProjection * vec4(place, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
