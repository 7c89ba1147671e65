#version 450
// Sprites of a 2D engine: one push-constant block a draw, which only the vertex shader declares.
// Everything that the fragment shader needs of it therefore travels as varyings.

layout(location = 0) in vec2 inPosition;
layout(location = 1) in vec2 inUv;
layout(location = 2) in vec4 inColor;

layout(push_constant) uniform Sprite {
    mat4 projection;
    vec4 tint;
    vec4 bias;
    float intensity;
    float rotation;
    uint flags;
    uint atlasPage;
} sprite;

layout(location = 0) out vec2 vUv;
layout(location = 1) out vec4 vColor;
layout(location = 2) out vec4 vTint;                // handed through
layout(location = 3) out vec4 vGlow;                // tint * intensity + bias
layout(location = 4) out vec2 vPulse;               // x: of the intensity, y: one component
layout(location = 5) flat out uvec2 vFlags;         // x: flags, y: atlas page
layout(location = 6) flat out float vOutline;

const float HALF_TURN = 3.14159265;

vec2 turned(vec2 p, float angle)
{
    float c = cos(angle);
    float s = sin(angle);
    return vec2(c * p.x - s * p.y, s * p.x + c * p.y);
}

void main()
{
    vUv = inUv;
    vColor = vec4(0.5 + 0.5 * abs(inColor.rgb), clamp(inColor.a, 0.2, 1.0));
    vTint = sprite.tint;
    vGlow = sprite.tint * sprite.intensity + sprite.bias;
    vPulse = vec2(0.5 + 0.5 * sin(sprite.intensity * HALF_TURN), sprite.bias.y);
    vFlags = uvec2(sprite.flags, sprite.atlasPage);
    vOutline = 0.05 + 0.1 * clamp(sprite.bias.w, 0.0, 1.0);
    vec2 place = turned(inPosition, sprite.rotation * 0.25);
    vec4 clip = sprite.projection * vec4(place, 0.0, 1.0);
    gl_Position = vec4(clip.xy, 0.5 * clip.w, clip.w);
}
