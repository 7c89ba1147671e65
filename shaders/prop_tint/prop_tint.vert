#version 450
// Props of a level editor: one range of push constants for both stages, each declares its part.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

layout(push_constant) uniform Prop {
    mat4 clipFromModel;
    vec4 tint;              // offset 64, also in the fragment shader's block
    vec4 emissive;          // offset 80, a hole there
    float fade;             // offset 96, also there
    uint material;          // offset 100, a hole there
} prop;

layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out vec4 vTint;                // handed through, declared by both
layout(location = 3) out vec3 vGlow;                // emissive colour * strength
layout(location = 4) flat out uint vMaterial;       // handed through
layout(location = 5) out float vFade;
layout(location = 6) out vec4 vSelected;            // tint * 0.5 + (emissive + constant)
layout(location = 7) out vec3 vModelAxis;           // column of the matrix, which only this has
layout(location = 8) flat out int vIsGlass;         // a comparison as a number
layout(location = 9) out vec4 vMixedTint;           // rgb: of the draw, a: of the vertex

vec4 highlighted(vec4 color, vec4 emissive)
{
    return color * 0.5 + (emissive + vec4(0.1, 0.1, 0.0, 0.0));
}

void main()
{
    vNormal = inNormal;
    vUv = inUv;
    vTint = prop.tint;
    vGlow = prop.emissive.rgb * prop.emissive.w;
    vMaterial = prop.material;
    vFade = 1.0 - 0.5 * prop.fade;
    vSelected = highlighted(prop.tint, prop.emissive);
    vModelAxis = prop.clipFromModel[1].xyz;
    vIsGlass = prop.material == 2u ? 1 : 0;
    vMixedTint = vec4(prop.tint.bgr, 0.5 + 0.5 * inUv.x);
    vec4 clip = prop.clipFromModel * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
