#version 450
// The uber fragment shader: layers, parallax, alpha test, normal map, clear coat, shadows, lights,
// environment, fog, motion, debug views.

const int ALPHA_TEST = 1 << 0;
const int NORMAL_MAP = 1 << 1;
const int PARALLAX = 1 << 2;
const int CLEAR_COAT = 1 << 3;
const int LIGHT_MAP = 1 << 4;
const int DETAIL = 1 << 5;
const int WETNESS = 1 << 6;

layout(constant_id = 0) const int SHADOW_CASCADES = 2;
layout(constant_id = 1) const bool MOTION_VECTORS = true;
layout(constant_id = 2) const int SHADOW_TAPS = 3;
layout(constant_id = 3) const bool DEBUG_VIEWS = true;

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
    vec4 uvTransform;
    vec4 clearCoat;
    float roughness;
    float metalness;
    float alphaCutoff;
    float heightScale;
    int vertexFeatures;
    int pixelFeatures;
    int materialId;
    int layer;
} draw;

struct Light {
    vec4 position;       // w: radius
    vec4 color;          // w < 0: spot
    vec4 direction;
};
layout(set = 0, binding = 3, std430) readonly buffer Lights { Light lights[8]; };

layout(set = 1, binding = 0) uniform sampler2DArray albedoMaps;
layout(set = 1, binding = 1) uniform sampler2D normalMap;
layout(set = 1, binding = 2) uniform sampler2D ormMap;
layout(set = 1, binding = 3) uniform sampler2D heightMap;
layout(set = 1, binding = 4) uniform sampler2D lightMap;
layout(set = 1, binding = 5) uniform sampler2D detailMap;
layout(set = 1, binding = 6) uniform sampler2DArrayShadow shadowMap;
layout(set = 1, binding = 7) uniform samplerCube environment;

struct Shading {
    vec3 position;
    vec3 normal;
    vec4 tangent;
};

layout(location = 0) in Shading vShading;
layout(location = 3) in vec4 vUv;
layout(location = 4) in vec4 vColor;
layout(location = 5) in vec3 vView;
layout(location = 6) in vec4 vShadow[2];
layout(location = 8) in vec4 vClip;
layout(location = 9) in vec4 vLastClip;
layout(location = 10) flat in ivec4 vDraw;
layout(location = 11) in vec4 vFog;
layout(location = 12) in vec3 vAmbient;
layout(location = 12, component = 3) in float vWetness;
layout(location = 13) flat in vec4 vEmissive;

layout(location = 0) out vec4 outColor;
layout(location = 1) out vec4 outNormal;
layout(location = 2) out vec2 outMotion;

const float PI = 3.14159265;

struct Material {
    vec3 albedo;
    vec3 normal;
    vec3 geometric;
    vec3 view;
    float alpha;
    float roughness;
    float metalness;
    float occlusion;
    float coat;
    float coatRoughness;
};

struct Gradients {
    vec2 dx;
    vec2 dy;
};

bool has(int feature)
{
    return (vDraw.z & feature) != 0;
}

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

mat3 tangentFrame()
{
    vec3 n = unit(vShading.normal);
    vec3 t = unit(vShading.tangent.xyz - n * dot(n, vShading.tangent.xyz));
    return mat3(t, cross(n, t) * vShading.tangent.w, n);
}

vec2 parallaxUv(vec2 uv, vec3 view)
{
    vec2 stride = view.xy / (abs(view.z) + 0.4) * (0.005 + 0.005 * abs(draw.heightScale));
    float layer = 1.0;
    for (int i = 0; i < 8; ++i) {
        float height = textureLod(heightMap, uv, 0.0).r;
        if (height >= layer)
            return uv;
        uv -= stride;
        layer -= 0.125;
    }
    return uv;
}

vec3 bumped(mat3 frameOf, vec2 uv, Gradients g)
{
    vec2 slope = textureGrad(normalMap, uv, g.dx, g.dy).xy * 2.0 - 1.0;
    if (has(DETAIL))
        slope += textureGrad(detailMap, uv * 8.0, g.dx * 8.0, g.dy * 8.0).xy - 0.5;
    return unit(frameOf * vec3(slope * 0.6, 1.0));
}

Material readMaterial()
{
    Gradients g = Gradients(dFdx(vUv.xy), dFdy(vUv.xy));
    mat3 frameOf = tangentFrame();
    Material m;
    m.view = unit(vView);
    vec2 uv = vUv.xy;
    if (has(PARALLAX))
        uv = parallaxUv(uv, m.view * frameOf);
    float layer = float(vDraw.y & 3);
    vec4 albedo = textureGrad(albedoMaps, vec3(uv, layer), g.dx, g.dy) * vColor;
    vec3 orm = textureGrad(ormMap, uv, g.dx, g.dy).rgb;
    m.albedo = albedo.rgb;
    m.alpha = albedo.a;
    m.occlusion = 0.5 + 0.5 * orm.r;
    m.roughness = clamp(orm.g * (0.5 + 0.5 * abs(draw.roughness)), 0.08, 1.0);
    m.metalness = clamp(orm.b * abs(draw.metalness), 0.0, 1.0);
    m.geometric = frameOf[2];
    m.normal = has(NORMAL_MAP) ? bumped(frameOf, uv, g) : frameOf[2];
    m.coat = 0.0;
    m.coatRoughness = 0.1;
    if (has(CLEAR_COAT)) {
        m.coat = clamp(abs(draw.clearCoat.x), 0.0, 1.0);
        m.coatRoughness = clamp(abs(draw.clearCoat.y), 0.08, 1.0);
    }
    if (has(WETNESS)) {
        m.albedo *= 1.0 - 0.5 * vWetness;
        m.roughness = mix(m.roughness, 0.1, vWetness);
    }
    return m;
}

float lobe(vec3 n, vec3 h, float nl, float nv, float roughness)
{
    float a = roughness * roughness;
    float nh = clamp(dot(n, h), 0.0, 1.0);
    float d = nh * nh * (a * a - 1.0) + 1.0;
    float k = a * 0.5;
    float g = (nl * (1.0 - k) + k) * (nv * (1.0 - k) + k);
    return min(a * a / max(PI * d * d, 1e-4) * 0.25 / max(g, 1e-3), 20.0);
}

vec3 brdf(Material m, vec3 light)
{
    float nl = dot(m.normal, light);
    if (nl <= 0.0)
        return vec3(0.0);
    vec3 h = unit(light + m.view);
    float nv = max(dot(m.normal, m.view), 1e-3);
    float vh = clamp(dot(m.view, h), 0.0, 1.0);
    vec3 f0 = mix(vec3(0.04), m.albedo, m.metalness);
    vec3 f = f0 + (1.0 - f0) * pow(1.0 - vh, 5.0);
    vec3 diffuse = m.albedo * (1.0 - m.metalness) * (1.0 - f) / PI;
    vec3 sum = diffuse + f * lobe(m.normal, h, nl, nv, m.roughness);
    if (m.coat > 0.0) {
        float top = max(dot(m.geometric, light), 0.0);
        float fc = (0.04 + 0.96 * pow(1.0 - vh, 5.0)) * m.coat;
        sum = sum * (1.0 - fc) + fc * lobe(m.geometric, h, top, nv, m.coatRoughness);
    }
    return sum * nl;
}

float shadowIn(int cascade)
{
    vec4 s = vShadow[cascade];
    vec3 p = s.xyz / max(s.w, 0.05);
    if (any(greaterThan(abs(p.xy - 0.5), vec2(0.5))))
        return -1.0;
    float lit = 0.0;
    for (int i = 0; i < SHADOW_TAPS; ++i) {
        float angle = float(i) * 2.4;
        vec2 tap = p.xy + vec2(cos(angle), sin(angle)) * 0.01;
        vec4 coordinate = vec4(tap, float(cascade), p.z - 0.004);
        lit += textureGrad(shadowMap, coordinate, vec2(0.0), vec2(0.0));
    }
    return lit / float(max(SHADOW_TAPS, 1));
}

float sunShadow()
{
    for (int cascade = 0; cascade < min(SHADOW_CASCADES, 2); ++cascade) {
        float lit = shadowIn(cascade);
        if (lit >= 0.0)
            return lit;
    }
    return 1.0;
}

vec3 localLights(Material m)
{
    vec3 sum = vec3(0.0);
    int count = clamp(frame.lightCount, 0, 8);
    for (int i = 0; i < count; ++i) {
        Light light = lights[i];
        vec3 toLight = light.position.xyz * 1.5 - vShading.position;
        float squared = dot(toLight, toLight);
        float radius = 1.0 + abs(light.position.w);
        if (squared > radius * radius)
            continue;
        vec3 l = unit(toLight);
        float window = 1.0 - squared / (radius * radius);
        if (light.color.w < 0.0) {
            float cone = dot(-l, unit(light.direction.xyz));
            if (cone < 0.3)
                continue;
            window *= smoothstep(0.3, 0.7, cone);
        }
        sum += brdf(m, l) * abs(light.color.rgb) * window * window;
        if (max(sum.r, max(sum.g, sum.b)) > 8.0)
            break;
    }
    return sum;
}

vec3 indirect(Material m)
{
    vec3 ambient = vAmbient;
    if (has(LIGHT_MAP))
        ambient *= 0.5 + textureLod(lightMap, vUv.zw, 0.0).rgb;
    vec3 mirror = reflect(-m.view, m.normal);
    vec3 sky = textureLod(environment, mirror, m.roughness * 4.0).rgb;
    vec3 f0 = mix(vec3(0.04), m.albedo, m.metalness);
    float facing = clamp(dot(m.normal, m.view), 0.0, 1.0);
    vec3 f = f0 + (max(vec3(1.0 - m.roughness), f0) - f0) * pow(1.0 - facing, 5.0);
    return (m.albedo * (1.0 - m.metalness) * ambient + sky * f * 0.6) * m.occlusion;
}

bool debugColor(Material m, out vec3 color)
{
    color = vec3(0.0);
    if (!DEBUG_VIEWS)
        return false;
    switch (frame.debugView) {
    case 17:
        color = m.normal * 0.5 + 0.5;
        return true;
    case 18:
        color = m.albedo;
        return true;
    case 19:
        color = vec3(m.occlusion, m.roughness, m.metalness);
        return true;
    case 20:
        color = vec3(fract(vUv.xy), 0.0);
        return true;
    }
    return false;
}

vec2 motion()
{
    if (!MOTION_VECTORS)
        return vec2(0.0);
    vec2 now = vClip.xy / max(vClip.w, 0.05);
    vec2 before = vLastClip.xy / max(vLastClip.w, 0.05);
    return (now - before) * 0.5;
}

void main()
{
    Material m = readMaterial();
    if (has(ALPHA_TEST) && m.alpha < 0.1 + 0.2 * abs(draw.alphaCutoff))
        discard;
    outNormal = vec4(m.normal * 0.5 + 0.5, m.roughness);
    outMotion = motion();
    vec3 color;
    if (debugColor(m, color)) {
        outColor = vec4(color, 1.0);
        return;
    }
    vec3 sun = unit(frame.sunDirection.xyz + vec3(0.2, 0.4, 1.0));
    color = brdf(m, sun) * (2.0 + abs(frame.sunColor.rgb)) * sunShadow();
    color += localLights(m);
    color += indirect(m);
    color += vEmissive.rgb * 0.1;
    color = mix(color, vFog.rgb, vFog.a);
    outColor = vec4(color * exp2(clamp(frame.exposure, -2.0, 2.0)), 1.0);
}
