#version 450
// Varyings in interface blocks: one with qualifiers per member, one with Locations of its own.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;
layout(location = 3) in vec4 inColor;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 world;
    vec4 light;
    vec4 ambient;
    vec4 fog;
    int lightMode;
} scene;

layout(location = 0) out Surface {
    vec3 position;
    vec3 normal;
    vec2 uv;
    vec2 lightMapUv;
    vec4 color;
    flat int mode;
} surface;

layout(location = 8) out Lighting {
    vec4 diffuse;
    vec4 ambient;
    noperspective vec2 screen;
    float fog;
} lighting;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

void main()
{
    vec4 world = scene.world * vec4(inPosition, 1.0);
    vec3 normal = unit(mat3(scene.world) * inNormal);
    vec3 toLight = scene.light.xyz * 2.0 + vec3(0.0, 0.0, 1.5) - world.xyz;
    float squared = dot(toLight, toLight);

    surface.position = world.xyz;
    surface.normal = normal;
    surface.uv = inUv;
    surface.lightMapUv = inUv * 0.5 + 0.5;
    surface.color = abs(inColor);
    surface.mode = clamp(scene.lightMode, 0, 2);

    float strength = max(dot(normal, unit(toLight)), 0.0) / (0.5 + squared);
    lighting.diffuse = vec4(vec3(1.4, 1.3, 1.2) * strength, squared);
    lighting.ambient = vec4(0.2 + 0.1 * abs(scene.ambient.rgb), 1.0);
    vec4 clip = scene.viewProjection * world;
    lighting.screen = clip.xy / max(clip.w, 0.05);
    lighting.fog = clamp(1.0 - exp(-0.2 * abs(scene.fog.w) * clip.w), 0.0, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
