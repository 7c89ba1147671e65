#version 450
// Sparks: what a particle is, is one angle and one age; the rest was easier to write down here.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec2 inCorner;
layout(location = 2) in float inAngle;
layout(location = 3) in float inAge;
layout(location = 4) in uint inSeed;

layout(set = 0, binding = 0, std140) uniform Burst {
    mat4 viewProjection;
    vec4 hot;
    vec4 cold;
    float strength;
} burst;

layout(location = 0) out vec2 vCorner;
layout(location = 1) flat out vec4 vRotation;       // the columns of a 2x2 rotation
layout(location = 2) flat out vec3 vAge;            // age, its square, what is left
layout(location = 2, component = 3) flat out float vFade;       // what is left, twice, scaled
layout(location = 3) flat out uvec3 vSeed;          // seed, cell, layer

void main()
{
    float s = sin(inAngle * 6.0);
    float c = cos(inAngle * 6.0);
    float left = 1.0 - inAge;
    vCorner = inCorner * 2.0 - 1.0;
    vRotation = vec4(c, s, -s, c);
    vAge = vec3(inAge, inAge * inAge, left);
    vFade = left * left * burst.strength;
    vSeed = uvec3(inSeed, inSeed & 3u, (inSeed >> 2u) & 7u);
    vec4 clip = burst.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
