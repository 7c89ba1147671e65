#version 450
// Blends two flip-book frames and fades where the scene's depth is close.

layout(set = 0, binding = 1) uniform sampler2D flipbook;
layout(set = 0, binding = 2) uniform sampler2D sceneDepth;

layout(location = 0) in vec4 vFrames;
layout(location = 1) in float vBlend;
layout(location = 2) in vec4 vColor;
layout(location = 3) in vec4 vScreen;
layout(location = 5) in vec2 vCorner;

layout(location = 0) out vec4 outColor;

void main()
{
    float falloff = 1.0 - dot(vCorner, vCorner) * 0.6;
    if (falloff <= 0.0)
        discard;
    vec4 now = textureLod(flipbook, vFrames.xy, 0.0);
    vec4 next = textureLod(flipbook, vFrames.zw, 0.0);
    vec4 color = mix(now, next, vBlend) * vColor;
    vec2 screen = vScreen.xy / max(vScreen.w, 0.05);
    float behind = textureLod(sceneDepth, screen, 0.0).r * 2.0;
    float own = vScreen.z / max(vScreen.w, 0.05);
    float soft = clamp((behind - own) * 2.0 + 0.3, 0.0, 1.0);
    color.a *= falloff * soft;
    outColor = vec4(color.rgb * color.a, color.a);
}
