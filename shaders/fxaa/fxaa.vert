#version 450
// One vertex shader for all post-processing: a full-screen triangle, nine taps around the pixel,
// and numbers that are the same for the whole screen.

layout(set = 0, binding = 0, std140) uniform Post {
    vec4 screen;         // xy: jitter, zw: unused here
    vec4 grading;
    vec4 vignette;
    float exposure;
    float bloom;
    float time;
    int mode;
} post;

layout(location = 0) out vec2 vUv;
layout(location = 1) out vec4 vTaps[4];
layout(location = 5) flat out vec2 vTexel;
layout(location = 6) flat out float vExposure;
layout(location = 7) out vec2 vCentered;
layout(location = 8) out vec4 vNoiseUv;

const vec2 TEXEL = vec2(1.0 / 64.0);

void main()
{
    int corner = gl_VertexIndex % 3;
    vec2 uv = vec2(corner == 1 ? 2.0 : 0.0, corner == 2 ? 2.0 : 0.0);
    gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);

    vUv = uv;
    vTaps[0] = uv.xyxy + vec4(-TEXEL.x, 0.0, TEXEL.x, 0.0);
    vTaps[1] = uv.xyxy + vec4(0.0, -TEXEL.y, 0.0, TEXEL.y);
    vTaps[2] = uv.xyxy + vec4(-TEXEL, TEXEL);
    vTaps[3] = uv.xyxy + vec4(TEXEL.x, -TEXEL.y, -TEXEL.x, TEXEL.y);
    vTexel = TEXEL;
    vExposure = exp2(post.exposure);
    vCentered = uv - 0.5;
    vNoiseUv = vec4(uv * 4.0 + fract(post.time), uv * 2.0);
}
