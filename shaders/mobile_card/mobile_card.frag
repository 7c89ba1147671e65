#version 450
// A card on a small screen, in half precision.

layout(location = 0) in mediump vec3 inkColour;
layout(location = 1) in highp vec2 cardUv;
layout(location = 2) in mediump float gloss;
layout(location = 3) in mediump vec3 rimColour;
layout(location = 4) in highp float grain;

layout(location = 0) out mediump vec4 colour;

void main() {
    mediump float speck = fract(sin(grain) * 4.0 + cardUv.x * 0.01);
    mediump vec3 body = mix(abs(inkColour), abs(rimColour), speck);
    colour = vec4(body * (0.5 + 0.5 * abs(gloss)), abs(sin(cardUv.y)));
}
