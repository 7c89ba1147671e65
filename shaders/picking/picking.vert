#version 450
// Object picking: ids travel flat beside what the normal pass would want.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;
layout(location = 3) in uint inPart;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 selection;
    ivec4 cursor;
    int objectId;
} scene;

layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) flat out uvec2 vIds;        // x: object, y: part
layout(location = 3) out vec4 vSelection;
layout(location = 4) out vec3 vWorld;
layout(location = 5) flat out uint vPrimitiveHint;

void main()
{
    vec4 clip = scene.viewProjection * vec4(inPosition, 1.0);
    vNormal = inNormal;
    vUv = inUv;
    vIds = uvec2(uint(scene.objectId) & 0xffu, inPart & 15u);
    vSelection = abs(scene.selection);
    vWorld = inPosition;
    vPrimitiveHint = uint(gl_VertexIndex) / 3u;
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
