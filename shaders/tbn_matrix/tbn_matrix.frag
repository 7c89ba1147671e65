#version 450
// Normal mapping with the frame as a matrix, a projected decal, one column of the decal by index.

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 world;
    mat4 decal;
    vec4 light;
    vec4 eye;
    float uvTurn;
} scene;
layout(set = 0, binding = 1) uniform sampler2D baseMap;
layout(set = 0, binding = 2) uniform sampler2D normalMap;
layout(set = 0, binding = 3) uniform sampler2D decalMap;

layout(location = 0) in mat3 vTbn;
layout(location = 3) in mat4 vDecal;
layout(location = 7) in mat2 vUvTurn;
layout(location = 9) in vec3 vPosition;
layout(location = 10) in vec2 vUv;

layout(location = 0) out vec4 outColor;

vec3 unit(vec3 v)
{
    float squared = dot(v, v);
    return squared > 1e-8 ? v * inversesqrt(squared) : vec3(0.0, 0.0, 1.0);
}

vec4 decalAt(vec3 position)
{
    vec3 local = (vDecal * vec4(position, 1.0)).xyz;
    vec4 texel = textureLod(decalMap, local.xy * 0.5 + 0.5, 0.0);
    vec3 inside = step(abs(local), vec3(0.6));
    return vec4(texel.rgb, texel.a * inside.x * inside.y * inside.z);
}

void main()
{
    vec2 uv = vUvTurn * vUv;
    vec3 bump = texture(normalMap, uv).xyz * 2.0 - 1.0;
    vec3 normal = unit(vTbn * vec3(bump.xy * 0.5, 1.0));
    vec3 light = unit(scene.light.xyz + vec3(0.0, 0.3, 1.0));
    vec3 inFrame = light * vTbn;
    float wrap = clamp(inFrame.z * 0.5 + 0.5, 0.0, 1.0);
    vec4 decal = decalAt(vPosition);
    vec3 base = mix(texture(baseMap, uv).rgb, decal.rgb, decal.a * 0.8);
    float diffuse = max(dot(normal, light), 0.0);
    outColor = vec4(base * (0.15 + 0.6 * diffuse + 0.25 * wrap), 1.0);
    outColor.rgb += 0.05 * abs(vTbn[1]);
}
