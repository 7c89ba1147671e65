#version 450
// Debug view: adds a constant for every layer drawn. It reads no varying at all.

layout(constant_id = 0) const float LAYER_STEP = 0.125;
layout(constant_id = 1) const int CELL = 8;

layout(location = 0) out vec4 outColor;

float hatch(vec2 pixel)
{
    float cell = float(max(CELL, 2));
    vec2 stripe = step(vec2(0.5 * cell), mod(pixel, cell));
    return stripe.x * stripe.y;
}

void main()
{
    float facing = gl_FrontFacing ? 1.0 : 0.4;
    float mark = hatch(gl_FragCoord.xy);
    outColor = vec4(LAYER_STEP * facing, LAYER_STEP * 0.5 * mark, LAYER_STEP * 0.25, 1.0);
}
