#version 450
// A spot light with its shadow: the whole shadow matrix travels, its rows are used per pixel. The
// fragment shader declares the same block shorter and with other names.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

layout(set = 0, binding = 3, std140) uniform Light {
    mat4 shadowFromWorld;
    vec4 position;          // w: reach
    vec4 color;             // w: intensity
    vec4 cone;              // x: inner, y: outer, z: bias, w: softness
    mat4 viewProjection;
    mat4 worldFromModel;
    vec4 ambient;
} light;

layout(location = 0) out mat4 vShadowMatrix;        // four Locations, handed through
layout(location = 4) out vec3 vWorld;
layout(location = 5) out vec3 vNormal;
layout(location = 6) out vec2 vUv;
layout(location = 7) out vec4 vShadowOrigin;        // a column of the matrix
layout(location = 8) out vec3 vLightColor;          // colour * intensity
layout(location = 8, component = 3) out float vBias;
layout(location = 9) out vec4 vAmbient;             // beyond the end of the other declaration
layout(location = 10) out vec2 vCone;               // x: scale, y: offset
layout(location = 11) out vec3 vUp;                 // a matrix * constant from beyond the end too

vec2 coneTerms(float inner, float outer)
{
    float scale = 1.0 / max(abs(inner - outer), 0.1);
    return vec2(scale, -outer * scale);
}

void main()
{
    vec3 world = (light.worldFromModel * vec4(inPosition, 1.0)).xyz;
    mat3 rotation = mat3(light.worldFromModel);
    vShadowMatrix = light.shadowFromWorld;
    vWorld = world;
    vNormal = rotation * inNormal + vec3(0.0, 0.0, 1.2);
    vUv = inUv;
    vShadowOrigin = light.shadowFromWorld[3];
    vLightColor = light.color.rgb * light.color.w;
    vBias = light.cone.z * 0.002;
    vAmbient = light.ambient;
    vCone = coneTerms(light.cone.x, light.cone.y);
    vUp = rotation * vec3(0.0, 0.0, 1.0);
    vec4 clip = light.viewProjection * vec4(world, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
