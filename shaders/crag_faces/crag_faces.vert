#version 450
// Rock faces, instanced: the instance decides the kind of stone.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 stone;
layout(location = 2) in vec3 moss;
layout(location = 3) in float height;
layout(location = 0) out vec3 vStone;
layout(location = 1) out vec3 vMoss;
layout(location = 2) out float vHeight;
layout(location = 3) flat out uint vKind;
void main() {
    vStone = stone;
    vMoss = moss * moss;
    vHeight = height;
    vKind = uint(gl_InstanceIndex) % 5u + 1u;
    gl_Position = vec4(position, 1.0);
}
