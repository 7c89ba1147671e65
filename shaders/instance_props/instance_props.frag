#version 450
// Painted and worn props. It declares the same block, but only reads what is of the whole draw.

layout(location = 0) in vec3 vNormal;
layout(location = 1) in vec2 vUv;
layout(location = 2) in vec4 vColor;
layout(location = 3) flat in vec4 vColorFlat;
layout(location = 4) flat in uint vMaterial;
layout(location = 4, component = 1) flat in uint vFlags;
layout(location = 4, component = 2) flat in int vIsOld;
layout(location = 4, component = 3) flat in int vIsPainted;
layout(location = 5) in vec2 vPatternScale;
layout(location = 5, component = 2) in float vGloss;
layout(location = 6) in vec4 vAmbient;
layout(location = 7) in vec3 vWorn;
layout(location = 8) flat in float vAge;
layout(location = 8, component = 1) flat in float vPhase;
layout(location = 9) in vec4 vFirstColor;

layout(set = 0, binding = 0, std140) uniform Props {
    mat4 viewProjection;
    vec4 ambient;
} props;

layout(set = 0, binding = 1) uniform sampler2DArray propMaps;

layout(location = 0) out vec4 outColor;

float pattern(vec2 uv)
{
    vec2 wave = sin(uv * vPatternScale + vPhase);
    return 0.5 + 0.5 * wave.x * wave.y;
}

void main()
{
    vec3 texel = texture(propMaps, vec3(vUv, float(vMaterial & 3u))).rgb;
    vec3 color = mix(vColor.rgb, vWorn, pattern(vUv));
    if (vIsPainted != 0)
        color = mix(color, vColorFlat.bgr, 0.4 * vColorFlat.a);
    if (vIsOld != 0)
        color *= 1.0 - 0.3 * vAge;
    if ((vFlags & 1u) != 0u)
        color += 0.1 * vFirstColor.rgb * vFirstColor.a;
    vec3 normal = vNormal / max(length(vNormal), 1e-3);
    float light = 0.5 + 0.5 * abs(normal.z);
    color = color * texel * light + 0.1 * vGloss * pow(abs(normal.z), 8.0);
    color += 0.2 * vAmbient.rgb * vAmbient.w + 0.1 * props.ambient.rgb;
    outColor = vec4(clamp(color, 0.0, 1.0), clamp(vColor.a, 0.3, 1.0));
}
