#version 450
// Rock with the seed's spots.
layout(location = 0) in vec3 eRock;
layout(location = 1) flat in uvec2 eSeed;
layout(location = 2) flat in uint eKind;
layout(location = 3) in vec4 eGrain;
layout(location = 4) in vec3 eEdge;
layout(location = 0) out vec4 color;
void main() {
    float spot = float((eSeed.x * 13u + eSeed.y * 5u + eKind) % 16u) / 16.0;
    color = vec4(eRock * eGrain.xyz + eEdge * 0.125, eGrain.w) + spot * 0.25;
}
