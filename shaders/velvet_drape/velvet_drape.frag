#version 450
// The height of the folds beside, above and at the pixel: sums of two inputs, each interpolated at
// the same offset. The three kinds of interpolation must not be mixed with one another.

layout(location = 0) in float vFold;
layout(location = 0, component = 1) in float vCrease;
layout(location = 0, component = 2) in vec2 vUv;
layout(location = 1) in vec3 vNormal;
layout(location = 2) in vec3 vWarp;
layout(location = 3) in vec3 vWeft;

layout(set = 0, binding = 0, std140) uniform Cloth {
    mat4 viewProjection;
    vec4 color;
    vec4 sheenDirection;
    float creaseDepth;
    float foldDepth;
} cloth;

layout(set = 0, binding = 1) uniform sampler2D weave;

layout(location = 0) out vec4 outColor;

float heightAt(vec2 offset)
{
    float fold = interpolateAtOffset(vFold, offset);
    float crease = interpolateAtOffset(vCrease, offset);
    return fold * cloth.foldDepth + crease * (0.5 + cloth.creaseDepth);
}

void main()
{
    float here = heightAt(vec2(0.0));
    float right = heightAt(vec2(0.375, 0.0));
    float above = heightAt(vec2(0.0, 0.375));
    vec2 slope = vec2(right - here, above - here) * 4.0;
    float shade = 1.0 / (1.0 + dot(slope, slope));
    float sheen = clamp(dot(vNormal, cloth.sheenDirection.xyz), 0.0, 1.0);
    vec3 thread = 0.6 * interpolateAtOffset(vWarp, vec2(-0.25, 0.25));
    thread += 0.4 * interpolateAtOffset(vWeft, vec2(-0.25, 0.25));
    vec3 base = texture(weave, vUv).rgb * abs(cloth.color.rgb) * (0.5 + max(thread, 0.0));
    outColor = vec4(base * (0.25 + 0.75 * shade) + 0.3 * sheen * sheen, 1.0);
}
