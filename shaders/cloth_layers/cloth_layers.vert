#version 450
// Cloth: shader graphs of several authors, glued together, so that the same values travel again and
// again: copied, negated, swizzled, as bits, and with other qualifiers.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec3 inTangent;
layout(location = 3) in vec2 inUv;
layout(location = 4) in vec4 inThread;

layout(set = 0, binding = 0, std140) uniform View {
    mat4 viewProjection;
    vec4 eye;
} view;

layout(location = 0) out vec2 vUv;
layout(location = 0, component = 2) out vec2 vWeaveUv;       // uv again
layout(location = 1) out vec4 vUvPair;              // uv and uv once more, turned around
layout(location = 2) out vec3 vNormal;
layout(location = 3) out vec3 vBackNormal;          // -normal
layout(location = 4) out vec3 vTangent;
layout(location = 5) out vec3 vTangentTurned;       // tangent.zyx
layout(location = 6) flat out vec4 vThread;
layout(location = 7) flat out uvec4 vThreadBits;    // floatBitsToUint(thread)
layout(location = 8) centroid out vec2 vUvCentroid; // uv, centroid
layout(location = 9) noperspective out vec2 vUvScreen;      // uv, without perspective
layout(location = 10) out vec4 vGathered;           // components of three others
layout(location = 11) flat out vec2 vUvFlat;        // uv, of one vertex
layout(location = 12) centroid out vec2 vUvCentroidAgain;   // twin of vUvCentroid
layout(location = 13) flat out vec4 vThreadTurned;  // -thread.wzyx

vec2 woven(vec2 uv)
{
    return uv * 1.5 + 0.25;
}

void main()
{
    vec2 uv = woven(inUv);
    vec3 normal = inNormal + vec3(0.0, 0.0, 1.2);
    vec3 tangent = inTangent + vec3(1.2, 0.0, 0.0);
    vUv = uv;
    vWeaveUv = woven(inUv);
    vUvPair = vec4(uv, uv.yx);
    vNormal = normal;
    vBackNormal = -normal;
    vTangent = tangent;
    vTangentTurned = tangent.zyx;
    vThread = inThread;
    vThreadBits = floatBitsToUint(inThread);
    vUvCentroid = uv;
    vUvScreen = uv;
    vGathered = vec4(normal.y, uv.x, tangent.x, -tangent.y);
    vUvFlat = uv;
    vUvCentroidAgain = uv;
    vThreadTurned = -inThread.wzyx;
    vec4 clip = view.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
