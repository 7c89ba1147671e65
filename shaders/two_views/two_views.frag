#version 450
// Tint of the player's view.
layout(location = 0) in FragmentData {
    vec3 normal;
    vec2 uv;
    vec4 tint;
    vec4 other;
    flat int player;
} fragmentData;
layout(location = 0) out vec4 color;
void main() {
    vec4 tint = fragmentData.player == 0 ? fragmentData.tint : fragmentData.other;
    color = tint * (0.5 + 0.5 * abs(fragmentData.normal.x)) + float(gl_ViewportIndex);
}
