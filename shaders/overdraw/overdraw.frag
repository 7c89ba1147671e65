#version 450
// Debug view: adds a constant for every layer drawn. It reads no varying at all.

layout(location = 0) out vec4 outColor;

layout(constant_id = 0) const float layerStep = 0.125;

void main()
{
    vec2 stripe = step(vec2(4.0), mod(gl_FragCoord.xy, 8.0));
    float cross = stripe.x * stripe.y;
    float facing = gl_FrontFacing ? 1.0 : 0.4;
    outColor = vec4(layerStep * facing, layerStep * 0.5 * cross, layerStep * 0.25, 1.0);
}
