#version 450
// Early returns out of nested loops and switches; each model reads other varyings.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    vec4 lights[4];
    vec4 baseColor;
    vec4 clearCoat;
    int lightCount;
    int maskBits;
} scene;
layout(set = 0, binding = 1) uniform sampler2D baseMap;

layout(location = 0) in vec3 vPosition;
layout(location = 1) in vec3 vNormal;
layout(location = 3) in vec2 vUv;
layout(location = 4) flat in uint vModel;
layout(location = 5) in vec3 vView;
layout(location = 6) in vec4 vBase;
layout(location = 7) in vec4 vCoat;
layout(location = 8) in float vSheen;

layout(location = 0) out vec4 outColor;

const uint UNLIT = 0u;
const uint LAMBERT = 1u;
const uint CLOTH = 2u;
const uint COATED = 3u;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

// The first cell of a small mask pattern that covers the point, as brightness; 1 if none does.
float maskAt(vec2 p)
{
    for (int y = 0; y < 3; ++y) {
        for (int x = 0; x < 3; ++x) {
            int bit = y * 3 + x;
            if (((scene.maskBits >> bit) & 1) == 0)
                continue;
            vec2 center = vec2(x, y) - 1.0;
            vec2 d = p - center * 0.6;
            if (dot(d, d) < 0.04)
                return 0.3 + 0.07 * float(bit);
            if (d.x > 0.5 && d.y > 0.5)
                break;
        }
        if (p.y < float(y) * 0.6 - 0.9)
            return 0.9;
    }
    return 1.0;
}

vec3 shade(uint model, vec3 n, vec3 view, vec3 base, vec3 light, float strength)
{
    float nl = dot(n, light);
    switch (model) {
    case UNLIT:
        return base;
    case LAMBERT:
        if (nl <= 0.0)
            return vec3(0.0);
        return base * nl * strength;
    case CLOTH: {
        float wrap = clamp(nl * 0.5 + 0.5, 0.0, 1.0);
        return (base * wrap + vec3(vSheen * 0.5)) * strength;
    }
    case COATED: {
        vec3 h = unit(light + view);
        float gloss = pow(clamp(dot(n, h), 0.0, 1.0), 64.0);
        return (base * max(nl, 0.0) + vCoat.rgb * gloss) * strength;
    }
    default:
        break;
    }
    float stepped = nl > 0.5 ? 1.0 : nl > 0.0 ? 0.6 : 0.2;
    return base * stepped * strength;
}

void main()
{
    vec3 texel = texture(baseMap, vUv).rgb;
    vec3 base = texel * vBase.rgb * maskAt(vPosition.xy);
    if (vModel == UNLIT) {
        outColor = vec4(base, 1.0);
        return;
    }
    vec3 n = unit(vNormal);
    vec3 view = unit(vView);
    vec3 sum = base * 0.15;
    int count = clamp(scene.lightCount, 1, 4);
    for (int i = 0; i < count; ++i) {
        float strength = 0.3 + abs(scene.lights[i].w);
        vec3 light = unit(scene.lights[i].xyz + vec3(0.0, 0.0, 0.6));
        sum += shade(vModel, n, view, base, light, strength);
        if (min(sum.r, min(sum.g, sum.b)) > 1.5) {
            outColor = vec4(1.5, 1.5, 1.5, 1.0);
            return;
        }
    }
    outColor = vec4(sum, 1.0);
}
