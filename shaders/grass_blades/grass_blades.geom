#version 450
// A strip of five vertices; the tip is emitted behind the loop.
layout(points) in;
layout(triangle_strip, max_vertices = 5) out;
layout(location = 0) in vec3 vUp[];
layout(location = 1) in vec4 vTint[];
layout(location = 2) in float vBend[];
layout(location = 3) in vec2 vSway[];
layout(location = 4) in int vBlade[];
layout(location = 0) out vec4 gTint;
layout(location = 1) out vec2 gUv;
layout(location = 2) out vec3 gUp;
layout(location = 3) flat out int gBlade;
layout(location = 4) out float gBend;
void main() {
    vec4 root = gl_in[0].gl_Position;
    vec2 side = vec2(0.06, 0.02 * vBend[0]);
    gBend = vBend[0];
    for (int i = 0; i < 2; ++i) {
        float along = float(i) * 0.5;
        vec2 sway = vSway[0] * along * along + vec2(0.0, along * 0.5);
        for (int s = -1; s <= 1; s += 2) {
            gTint = vTint[0] * (0.5 + along);
            gUv = vec2(float(s) * 0.5 + 0.5, along);
            gUp = vUp[0];
            gBlade = vBlade[0];
            gBend = vBend[0] * along;
            gl_Position = root + vec4(side * float(s) * (1.0 - along) + sway, 0.0, 0.0);
            EmitVertex();
        }
    }
    gTint = vTint[0] * 1.5;
    gUv = vec2(0.5, 1.0);
    gUp = vUp[0];
    gBlade = vBlade[0];
    gBend = vBend[0];
    gl_Position = root + vec4(vSway[0] + vec2(0.0, 0.6), 0.0, 0.0);
    EmitVertex();
    EndPrimitive();
}
