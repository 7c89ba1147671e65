#version 450
// The uber vertex shader: every feature of the renderer in one, chosen by feature bits.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inTangent;
layout(location = 3) in vec2 inUv0;
layout(location = 4) in vec2 inUv1;
layout(location = 5) in vec4 inColor;
layout(location = 6) in uvec4 inBones;
layout(location = 7) in vec4 inWeights;

const int SKINNING = 1 << 0;
const int WIND = 1 << 1;
const int MORPH = 1 << 2;
const int VERTEX_COLOR = 1 << 3;
const int BILLBOARD = 1 << 4;
const int SCROLL = 1 << 5;

layout(constant_id = 0) const int SHADOW_CASCADES = 2;
layout(constant_id = 1) const bool MOTION_VECTORS = true;

layout(set = 0, binding = 0, std140) uniform Frame {
    mat4 viewProjection;
    mat4 lastViewProjection;
    mat4 cascades[2];
    vec4 eye;
    vec4 sunDirection;
    vec4 sunColor;
    vec4 wind;
    vec4 fog;
    float time;
    float exposure;
    int lightCount;
    int debugView;
} frame;

layout(set = 0, binding = 1, std140) uniform Draw {
    mat4 world;
    mat4 lastWorld;
    vec4 baseColor;
    vec4 emissive;
    vec4 uvTransform;        // xy: scale, zw: offset
    vec4 clearCoat;          // x: strength, y: roughness
    float roughness;
    float metalness;
    float alphaCutoff;
    float heightScale;
    int vertexFeatures;
    int pixelFeatures;
    int materialId;
    int layer;
} draw;

layout(set = 0, binding = 2, std140) uniform Pose { mat4 bones[8]; };

struct Shading {
    vec3 position;
    vec3 normal;
    vec4 tangent;
};

layout(location = 0) out Shading vShading;           // Locations 0 to 2
layout(location = 3) out vec4 vUv;
layout(location = 4) out vec4 vColor;
layout(location = 5) out vec3 vView;
layout(location = 6) out vec4 vShadow[2];
layout(location = 8) out vec4 vClip;
layout(location = 9) out vec4 vLastClip;
layout(location = 10) flat out ivec4 vDraw;          // material, layer, pixel features, spare
layout(location = 11) out vec4 vFog;                 // rgb: in-scatter, a: amount
layout(location = 12) out vec3 vAmbient;
layout(location = 12, component = 3) out float vWetness;
layout(location = 13) flat out vec4 vEmissive;
layout(location = 14) out vec3 vMorphDebug;

bool has(int feature)
{
    return (draw.vertexFeatures & feature) != 0;
}

vec3 unit(vec3 v, vec3 fallback)
{
    float squared = dot(v, v);
    if (squared < 1e-8)
        return fallback;
    return v * inversesqrt(squared);
}

mat4 pose()
{
    vec4 w = abs(inWeights) + vec4(0.01, 0.0, 0.0, 0.0);
    w /= w.x + w.y + w.z + w.w;
    uvec4 b = min(inBones, uvec4(7u));
    return bones[b.x] * w.x + bones[b.y] * w.y + bones[b.z] * w.z + bones[b.w] * w.w;
}

vec3 blown(vec3 p, float height)
{
    float gust = sin(frame.time * 2.0 + dot(p.xz, vec2(1.7, 0.9)));
    float flutter = sin(frame.time * 7.0 + p.x * 11.0) * 0.2;
    return p + frame.wind.xyz * (0.1 * height * (gust + flutter));
}

Shading local()
{
    Shading s;
    s.position = inPosition;
    s.normal = inNormal;
    s.tangent = inTangent;
    vMorphDebug = vec3(0.0);
    if (has(MORPH)) {
        vec3 delta = 0.1 * sin(inPosition.yzx * 5.0 + frame.time);
        s.position += delta;
        vMorphDebug = delta;
    }
    if (has(SKINNING)) {
        mat4 m = pose();
        s.position = (m * vec4(s.position, 1.0)).xyz;
        s.normal = mat3(m) * s.normal;
        s.tangent.xyz = mat3(m) * s.tangent.xyz;
    }
    if (has(WIND))
        s.position = blown(s.position, clamp(inPosition.y * 0.5 + 0.5, 0.0, 1.0));
    if (has(BILLBOARD))
        s.normal = vec3(0.0, 0.0, 1.0);
    return s;
}

vec4 fogAt(vec3 world)
{
    float distance = length(world - frame.eye.xyz);
    float amount = 1.0 - exp(-distance * 0.1 * abs(frame.fog.w));
    float up = clamp(world.y * 0.5 + 0.5, 0.0, 1.0);
    return vec4(mix(vec3(0.6, 0.6, 0.55), abs(frame.fog.rgb), up), clamp(amount, 0.0, 0.8));
}

vec3 ambientAt(vec3 n)
{
    vec3 sky = vec3(0.25, 0.32, 0.42);
    vec3 ground = vec3(0.16, 0.13, 0.10);
    return mix(ground, sky, n.y * 0.5 + 0.5);
}

void main()
{
    Shading s = local();
    vec3 before = s.position;
    mat3 turn = mat3(draw.world);
    s.position = (draw.world * vec4(s.position, 1.0)).xyz;
    s.normal = unit(turn * s.normal, vec3(0.0, 0.0, 1.0));
    s.tangent.xyz = unit(turn * s.tangent.xyz, vec3(1.0, 0.0, 0.0));
    s.tangent.w = inTangent.w < 0.0 ? -1.0 : 1.0;
    vShading = s;

    vUv.xy = inUv0 * (1.0 + 0.5 * draw.uvTransform.xy) + draw.uvTransform.zw;
    if (has(SCROLL))
        vUv.xy += fract(frame.time * vec2(0.1, 0.07));
    vUv.zw = inUv1 * 0.5 + 0.5;
    vColor = vec4(abs(draw.baseColor.rgb) * 0.6 + 0.4, 1.0);
    if (has(VERTEX_COLOR))
        vColor *= vec4(abs(inColor.rgb) * 0.5 + 0.5, 1.0);
    vView = frame.eye.xyz + vec3(0.0, 0.0, 2.5) - s.position;
    for (int i = 0; i < 2; ++i) {
        vShadow[i] = vec4(0.5, 0.5, 0.0, 1.0);
        if (i < SHADOW_CASCADES) {
            vec4 p = frame.cascades[i] * vec4(s.position + s.normal * 0.02, 1.0);
            vShadow[i] = vec4(p.xyz * 0.5 + 0.5 * p.w, p.w);
        }
    }
    vec4 clip = frame.viewProjection * vec4(s.position, 1.0);
    vClip = clip;
    vLastClip = clip;
    if (MOTION_VECTORS)
        vLastClip = frame.lastViewProjection * (draw.lastWorld * vec4(before, 1.0));
    vDraw = ivec4(draw.materialId, draw.layer, draw.pixelFeatures, 0);
    vFog = fogAt(s.position);
    vAmbient = ambientAt(s.normal);
    vWetness = clamp(0.3 - s.position.y, 0.0, 1.0);
    vEmissive = vec4(abs(draw.emissive.rgb), 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
