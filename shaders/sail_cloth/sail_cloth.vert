#version 450
// A sail: cloth, dirt and two layers of paint at the corners of a patch.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 clothColor;
layout(location = 2) in vec4 dirt;
layout(location = 3) in vec2 uv;
layout(set = 0, binding = 0) uniform Sail { vec4 sun; vec4 paint; vec4 wind; float wear; } sail;
layout(location = 0) out vec4 vCloth;
layout(location = 1) out vec4 vDirt;
layout(location = 2) out vec2 vUv;
layout(location = 3) out vec2 vDrift;
layout(location = 4) out vec3 vBend;
void main() {
    vCloth = clothColor * sail.sun;
    vDirt = sqrt(abs(dirt)) * sail.wear;
    vUv = uv;
    vDrift = vec2(sin(position.x * 3.0), cos(position.y * 3.0));
    vBend = position.zxy * 0.1;
    gl_Position = vec4(position, 1.0);
}
