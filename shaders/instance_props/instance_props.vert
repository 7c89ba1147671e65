#version 450
// Instanced props out of one uniform buffer: what comes by gl_InstanceIndex is equal for all
// vertices of a triangle, but not for the draw.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

struct Instance {
    vec4 placement;         // xyz: offset, w: turn
    vec4 color;
    vec4 pattern;           // xy: scale, z: wear, w: gloss
    uint material;
    uint flags;
    float age;
    float phase;
};

layout(set = 0, binding = 0, std140) uniform Props {
    mat4 viewProjection;
    vec4 ambient;
    Instance instances[32];
} props;

layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out vec4 vColor;               // per instance, interpolated
layout(location = 3) flat out vec4 vColorFlat;      // the same, flat
layout(location = 4) flat out uint vMaterial;
layout(location = 4, component = 1) flat out uint vFlags;
layout(location = 4, component = 2) flat out int vIsOld;     // a bool as a number
layout(location = 4, component = 3) flat out int vIsPainted;
layout(location = 5) out vec2 vPatternScale;        // per instance, interpolated
layout(location = 5, component = 2) out float vGloss;
layout(location = 6) out vec4 vAmbient;             // for the whole draw
layout(location = 7) out vec3 vWorn;                // expression over per-instance values
layout(location = 8) flat out float vAge;
layout(location = 8, component = 1) flat out float vPhase;
layout(location = 9) out vec4 vFirstColor;          // of instance 0: for the whole draw

vec3 turned(vec3 p, float angle)
{
    float c = cos(angle);
    float s = sin(angle);
    return vec3(c * p.x - s * p.y, s * p.x + c * p.y, p.z);
}

void main()
{
    Instance prop = props.instances[gl_InstanceIndex & 31];
    vNormal = turned(inNormal, prop.placement.w);
    vUv = inUv;
    vColor = prop.color;
    vColorFlat = prop.color;
    vMaterial = prop.material;
    vFlags = prop.flags;
    vIsOld = int(prop.age > 0.5);
    vIsPainted = (prop.flags & 2u) != 0u ? 1 : 0;
    vPatternScale = 2.0 + 4.0 * prop.pattern.xy;
    vGloss = prop.pattern.w;
    vAmbient = props.ambient;
    vWorn = mix(prop.color.rgb, vec3(0.4), prop.pattern.z * 0.5);
    vAge = prop.age;
    vPhase = prop.phase;
    vFirstColor = props.instances[0].color;
    vec3 world = turned(inPosition, prop.placement.w) + 0.2 * prop.placement.xyz;
    vec4 clip = props.viewProjection * vec4(world, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
