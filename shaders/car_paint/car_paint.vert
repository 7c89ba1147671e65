#version 450
// Car paint in variants: specialization constants travel as varyings. Numbers 0, 1 and 3 mean other
// things, or have other defaults, in the fragment shader.

layout(constant_id = 0) const float FLAKE_SIZE = 0.35;
layout(constant_id = 1) const int COATS = 2;
layout(constant_id = 2) const bool METALLIC = true;
layout(constant_id = 3) const float UV_SCALE = 3.0;
layout(constant_id = 7) const uint PAINT_CODE = 5u;

const int LAYERS = COATS * 2 + 1;       // an OpSpecConstantOp

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Car {
    mat4 viewProjection;
    vec4 paint;
    vec4 pearl;
} car;

layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out float vFlakeSize;          // specialization constant, handed through
layout(location = 2, component = 1) out float vDensity;       // expression over two
layout(location = 2, component = 2) out float vUvScale;       // SpecId 3, also there
layout(location = 3) flat out int vLayers;          // OpSpecConstantOp
layout(location = 3, component = 1) flat out uint vPaintCode;
layout(location = 3, component = 2) flat out int vMetallic;   // a bool as a number
layout(location = 4) out vec4 vPaint;               // uniform * specialization constant
layout(location = 5) out vec3 vPearl;               // plain uniform, beside them
layout(location = 6) out vec2 vScaledUv;            // attribute * specialization constant
layout(location = 7) out vec3 vChosen;              // a constant of two by METALLIC

float density(int coats, float size)
{
    return float(coats) / (0.5 + size);
}

void main()
{
    vNormal = inNormal;
    vUv = inUv;
    vFlakeSize = FLAKE_SIZE;
    vDensity = density(COATS, FLAKE_SIZE);
    vUvScale = UV_SCALE;
    vLayers = LAYERS;
    vPaintCode = PAINT_CODE;
    vMetallic = METALLIC ? 1 : 0;
    vPaint = car.paint * (1.0 - 0.25 * FLAKE_SIZE);
    vPearl = car.pearl.rgb;
    vScaledUv = inUv * UV_SCALE;
    vChosen = METALLIC ? vec3(0.9, 0.85, 0.8) : vec3(0.04);
    vec4 clip = car.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
