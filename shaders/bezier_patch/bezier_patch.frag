#version 450
// Paint by the patch, texture by the layer.
layout(set = 0, binding = 0) uniform sampler2DArray skins;
layout(location = 0) in vec4 ePaint;
layout(location = 1) flat in uint eLayer;
layout(location = 2) flat in uint eLayerAgain;
layout(location = 3) in vec4 eWhite;
layout(location = 4) in vec2 eUv;
layout(location = 0) out vec4 color;
void main() {
    vec4 texel = textureLod(skins, vec3(eUv, float(eLayer)), 0.0);
    color = ePaint * texel * eWhite + float(eLayerAgain) * 0.125;
}
