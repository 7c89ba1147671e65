#version 450
// Of the captured state only the age and the tint are drawn.
layout(location = 1) in float age;
layout(location = 4) in vec2 trail;
layout(location = 5) in vec4 tint;
layout(location = 6) in vec4 tintOfDust;
layout(location = 8) in float exposure;
layout(location = 0) out vec4 color;
void main() {
    float fade = clamp(1.0 - age * 0.25, 0.0, 1.0);
    color = vec4(tint.rgb * fade * exposure + tintOfDust.gbr * 0.125, tint.a);
    color.xy += trail * 0.0625;
}
