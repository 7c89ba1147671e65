#version 450
// A bicubic surface: sixteen control points a patch, colours only at the corners.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 paint;
layout(location = 2) in uint layer;
layout(location = 0) out vec4 vPaint;
layout(location = 1) flat out uint vLayer;
layout(location = 2) out vec3 vUnused;
void main() {
    vPaint = paint;
    vLayer = layer & 3u;
    vUnused = position * 3.0;
    gl_Position = vec4(position, 1.0);
}
