#version 450
// A card on a small screen, in half precision.

// A card on a small screen: colours in half precision, coordinates in full.
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in mediump vec4 paint;

layout(location = 0) out mediump vec3 inkColour;
layout(location = 1) out highp vec2 cardUv;
layout(location = 2) out mediump float gloss;
layout(location = 3) out mediump vec3 rimColour;
layout(location = 4) out highp float grain;
layout(location = 5) out mediump vec4 unread;

void main() {
    inkColour = paint.rgb;
    cardUv = uv * 512.0;
    gloss = paint.a * paint.a;
    rimColour = paint.bgr * paint.gbr;
    grain = uv.x * 64.0 + uv.y * uv.y;
    unread = paint * 0.5;
    gl_Position = vec4(position, 1.0);
}
