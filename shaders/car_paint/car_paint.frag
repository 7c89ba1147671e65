#version 450
// Base coat, flakes, clear coat. Its specialization constants are its own, whatever their numbers.

layout(constant_id = 0) const int QUALITY = 2;
layout(constant_id = 1) const float CLEAR_COAT = 0.6;
layout(constant_id = 3) const float UV_SCALE = 1.5;
layout(constant_id = 4) const bool DEBUG_FLAKES = false;

layout(location = 0) in vec3 vNormal;
layout(location = 1) in vec2 vUv;
layout(location = 2) in float vFlakeSize;
layout(location = 2, component = 1) in float vDensity;
layout(location = 2, component = 2) in float vUvScale;
layout(location = 3) flat in int vLayers;
layout(location = 3, component = 1) flat in uint vPaintCode;
layout(location = 3, component = 2) flat in int vMetallic;
layout(location = 4) in vec4 vPaint;
layout(location = 5) in vec3 vPearl;
layout(location = 6) in vec2 vScaledUv;
layout(location = 7) in vec3 vChosen;

layout(set = 0, binding = 0, std140) uniform Car {
    mat4 viewProjection;
    vec4 paint;
    vec4 pearl;
} car;

layout(set = 0, binding = 1) uniform sampler2D flakeMap;

layout(location = 0) out vec4 outColor;

float flakes(vec2 uv)
{
    float sum = 0.0;
    float scale = 1.0;
    for (int i = 0; i < QUALITY; ++i) {
        sum += textureLod(flakeMap, uv * scale * UV_SCALE, 0.0).r;
        scale *= 1.7;
    }
    return sum / float(max(QUALITY, 1));
}

void main()
{
    vec3 normal = vNormal / max(length(vNormal), 1e-3);
    float facing = abs(normal.z);
    float flake = smoothstep(vFlakeSize, 1.0, flakes(vScaledUv)) * vDensity * 0.25;
    float grid = 0.9 + 0.1 * sin(vUv.x * vUvScale * 6.0) * sin(vUv.y * vUvScale * 6.0);
    vec3 color = vPaint.rgb * grid * (0.5 + 0.1 * float(clamp(vLayers, 1, 9)));
    color = mix(color, vPearl, pow(1.0 - facing, 3.0));
    if (vMetallic != 0)
        color += flake * vChosen;
    if (DEBUG_FLAKES)
        color = vec3(flake);
    color *= 0.9 + 0.02 * float(vPaintCode & 7u);
    color += CLEAR_COAT * pow(facing, 16.0) * (0.1 + 0.1 * car.pearl.rgb);
    outColor = vec4(clamp(color, 0.0, 1.0), 0.5 * vPaint.a);
}
