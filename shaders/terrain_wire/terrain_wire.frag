#version 450
// Normal, tile and edges only.
layout(location = 0) in vec3 gNormal;
layout(location = 2) flat in ivec2 gTile;
layout(location = 5) in vec3 gEdges;
layout(location = 0) out vec4 color;
layout(location = 1) out ivec2 tile;
void main() {
    float edge = min(gEdges.x, min(gEdges.y, gEdges.z)) < 0.1 ? 1.0 : 0.25;
    color = vec4(gNormal * 0.5 + 0.5, edge);
    tile = gTile;
}
