#version 450
// Directional light map: an array of four outputs filled by a loop.

layout(set = 0, binding = 0, std140) uniform Bake {
    mat4 world;
    mat4 unfold;
    vec4 lightPositions[4];
    vec4 lightColors[4];
    vec4 sky;
    int lightCount;
} bake;

layout(location = 0) in vec3 vPosition;
layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec4 vAlbedo;

layout(location = 0) out vec4 outMaps[4];

const vec3 BASIS[3] = vec3[](vec3(0.816, 0.0, 0.577), vec3(-0.408, 0.707, 0.577),
                             vec3(-0.408, -0.707, 0.577));

struct Incoming {
    vec3 direction;
    vec3 radiance;
};

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

Incoming fromLight(int i)
{
    Incoming result;
    vec3 toLight = bake.lightPositions[i].xyz * 1.5 - vPosition;
    result.direction = unit(toLight);
    result.radiance = abs(bake.lightColors[i].rgb) / (0.5 + dot(toLight, toLight));
    return result;
}

mat3 frameOf(vec3 n)
{
    vec3 helper = abs(n.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0);
    vec3 t = unit(cross(helper, n));
    return mat3(t, cross(n, t), n);
}

void main()
{
    vec3 n = unit(vNormal);
    mat3 frame = frameOf(n);
    for (int i = 0; i < 4; ++i)
        outMaps[i] = vec4(0.02 * abs(bake.sky.rgb), 1.0);
    int count = clamp(bake.lightCount, 1, 4);
    for (int light = 0; light < count; ++light) {
        Incoming incoming = fromLight(light);
        float flatTerm = max(dot(n, incoming.direction), 0.0);
        if (flatTerm <= 0.0)
            continue;
        for (int map = 0; map < 3; ++map) {
            float along = max(dot(frame * BASIS[map], incoming.direction), 0.0);
            outMaps[map].rgb += incoming.radiance * along;
        }
        outMaps[3].rgb += incoming.radiance * flatTerm;
    }
    outMaps[3].rgb *= vAlbedo.rgb;
}
