#version 450
// Edge smoothing on brightness: finds the edge's direction and walks along it a few steps.

layout(set = 0, binding = 1) uniform sampler2D scene;

layout(location = 0) in vec2 vUv;
layout(location = 1) in vec4 vTaps[4];
layout(location = 5) flat in vec2 vTexel;

layout(location = 0) out vec4 outColor;

const int SEARCH = 6;

float luma(vec3 c)
{
    return dot(c, vec3(0.299, 0.587, 0.114));
}

float lumaAt(vec2 uv)
{
    return luma(textureLod(scene, uv, 0.0).rgb);
}

float walk(vec2 start, vec2 stride, float reference, float limit)
{
    vec2 at = start;
    for (int i = 1; i <= SEARCH; ++i) {
        at += stride;
        if (abs(lumaAt(at) - reference) > limit)
            return float(i);
    }
    return float(SEARCH);
}

void main()
{
    vec4 center = textureLod(scene, vUv, 0.0);
    float here = luma(center.rgb);
    float left = lumaAt(vTaps[0].xy);
    float right = lumaAt(vTaps[0].zw);
    float up = lumaAt(vTaps[1].xy);
    float down = lumaAt(vTaps[1].zw);
    float low = min(here, min(min(left, right), min(up, down)));
    float high = max(here, max(max(left, right), max(up, down)));
    if (high - low < max(0.05, high * 0.1)) {
        outColor = center;
        return;
    }
    bool horizontal = abs(up + down - 2.0 * here) > abs(left + right - 2.0 * here);
    vec2 along = horizontal ? vec2(vTexel.x, 0.0) : vec2(0.0, vTexel.y);
    vec2 across = horizontal ? vec2(0.0, vTexel.y) : vec2(vTexel.x, 0.0);
    float before = horizontal ? up : left;
    float after = horizontal ? down : right;
    if (abs(before - here) > abs(after - here))
        across = -across;
    float limit = (high - low) * 0.25;
    float forward = walk(vUv, along, here, limit);
    float backward = walk(vUv, -along, here, limit);
    float offset = 0.5 - min(forward, backward) / max(forward + backward, 1.0);
    outColor = textureLod(scene, vUv + across * offset, 0.0);
}
