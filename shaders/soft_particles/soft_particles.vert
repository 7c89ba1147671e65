#version 450
// Camera-facing particle quads with flip-book animation; half of the outputs are for lit smoke.

layout(location = 0) in vec3 inCenter;
layout(location = 1) in vec2 inCorner;
layout(location = 2) in vec4 inLife;         // x: age, y: rotation, z: size, w: seed
layout(location = 3) in vec4 inColor;

layout(set = 0, binding = 0, std140) uniform Camera {
    mat4 viewProjection;
    vec4 right;
    vec4 up;
    vec4 sun;
    float softness;
    int frames;
    int lit;
} camera;

layout(location = 0) out vec4 vFrames;       // uv in this frame, uv in the next
layout(location = 1) out float vBlend;
layout(location = 2) out vec4 vColor;
layout(location = 3) out vec4 vScreen;
layout(location = 4) out vec3 vSunTangent;
layout(location = 5) out vec2 vCorner;
layout(location = 6) flat out uint vSeed;
layout(location = 7) out float vAge;

vec2 frameUv(int frame, vec2 corner)
{
    ivec2 cell = ivec2(frame & 3, (frame >> 2) & 3);
    return (vec2(cell) + corner * 0.5 + 0.5) * 0.25;
}

vec4 fade(vec4 color, float age)
{
    if (age < 0.1)
        return vec4(color.rgb, color.a * age * 10.0);
    if (age > 0.7)
        return vec4(color.rgb * 0.8, color.a * (1.0 - age) / 0.3);
    return color;
}

void main()
{
    float age = clamp(inLife.x * 0.5 + 0.5, 0.0, 1.0);
    float turn = inLife.y * 3.14159265;
    mat2 spin = mat2(cos(turn), sin(turn), -sin(turn), cos(turn));
    vec2 corner = spin * inCorner;
    float size = 0.3 + 0.2 * inLife.z;
    vec3 right = vec3(1.0, 0.0, 0.0) + 0.2 * camera.right.xyz;
    vec3 up = vec3(0.0, 1.0, 0.0) + 0.2 * camera.up.xyz;
    vec3 position = inCenter * 0.7 + (right * corner.x + up * corner.y) * size;
    vec4 clip = camera.viewProjection * vec4(position, 1.0);

    int frames = clamp(camera.frames, 1, 16);
    float at = age * float(frames);
    int frame = min(int(at), frames - 1);
    vFrames.xy = frameUv(frame, inCorner);
    vFrames.zw = frameUv(min(frame + 1, frames - 1), inCorner);
    vBlend = clamp(at - float(frame), 0.0, 1.0);
    vColor = fade(abs(inColor), age);
    vScreen = vec4(clip.xy * 0.5 + 0.5 * clip.w, clip.zw);
    vSunTangent = vec3(0.0);
    if (camera.lit > 0)
        vSunTangent = vec3(dot(camera.sun.xyz, right), dot(camera.sun.xyz, up), camera.sun.z);
    vCorner = inCorner;
    vSeed = uint(gl_VertexIndex) / 3u;
    vAge = age;
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
