#version 450
// Voxels of a large world: colours by a vertex attribute out of a palette, positions in two floats
// each, relative to the camera, with arithmetic that nobody may rearrange.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in uint inMaterial;

layout(set = 0, binding = 0, std140) uniform World {
    mat4 viewProjection;
    vec4 cameraHigh;
    vec4 cameraLow;
    vec4 chunkHigh;
    vec4 chunkLow;
    vec4 palette[16];
    ivec4 layers[4];
} world;

layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec4 vBlockColor;          // palette[attribute]
layout(location = 2) out vec4 vMortarColor;         // palette[3]
layout(location = 3) flat out uint vMaterial;
layout(location = 3, component = 1) flat out int vLayer;     // layers[attribute]
layout(location = 3, component = 2) flat out int vTopLayer;  // layers[1].x
layout(location = 4) precise out vec3 vChunkOffset; // uniform, exact
layout(location = 5) precise out vec3 vRoundOff;    // uniform, and zero to whoever rearranges it
layout(location = 6) precise out vec3 vRelative;    // of the vertex, exact
layout(location = 7) out vec3 vMixed;               // half of the palette's, half of the draw's

// The part of a - b that the float difference loses.
vec3 lost(vec3 a, vec3 b)
{
    precise vec3 difference = a - b;
    precise vec3 back = a - difference;
    precise vec3 rest = back - b;
    return rest;
}

invariant gl_Position;

void main()
{
    uint material = inMaterial & 15u;
    precise vec3 high = world.chunkHigh.xyz - world.cameraHigh.xyz;
    precise vec3 low = world.chunkLow.xyz - world.cameraLow.xyz;
    vNormal = inNormal;
    vBlockColor = world.palette[material];
    vMortarColor = world.palette[3];
    vMaterial = material;
    vLayer = world.layers[material >> 2][material & 3u];
    vTopLayer = world.layers[1].x;
    vChunkOffset = high + low;
    vRoundOff = lost(world.chunkHigh.xyz, world.cameraHigh.xyz * 1024.0);
    vRelative = (inPosition + high * 0.25) + low * 0.25;
    vMixed = 0.5 * world.palette[material].rgb + 0.5 * world.palette[0].rgb;
    vec4 clip = world.viewProjection * vec4(inPosition + 0.1 * (high + low), 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
