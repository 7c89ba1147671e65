#version 450
// The nearest edge decides; face normals are not asked for here.
layout(location = 0) in vec3 gNormal;
layout(location = 1) noperspective in vec3 gEdges;
layout(location = 2) in vec4 gColor;
layout(location = 3) flat in vec4 gLineColor;
layout(location = 0) out vec4 color;
void main() {
    float edge = min(gEdges.x, min(gEdges.y, gEdges.z));
    vec4 shaded = gColor * (0.5 + 0.5 * abs(gNormal.z));
    color = edge < 0.05 ? gLineColor : shaded;
}
