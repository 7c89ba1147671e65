#version 450
// Tessellated terrain in the editor: all five stages, with the game's vertex shader.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 3) in ivec2 tile;
layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec2 vUv;
layout(location = 2) out ivec2 vTile;
layout(location = 3) out vec4 vSplat;
layout(location = 4) out vec3 vWater;
void main() {
    vNormal = normal;
    vUv = uv;
    vTile = tile & 7;
    vSplat = vec4(uv, 1.0 - uv);
    vWater = vec3(0.1, 0.3, 0.4);
    gl_Position = vec4(position, 1.0);
}
