#version 450
// Quadratic curves: two inputs with the Bernstein weights of one, the slope with others.
layout(isolines, equal_spacing) in;
layout(location = 0) in vec4 cBark[];
layout(location = 1) in vec4 cVelvet[];
layout(location = 2) in float cRoot[];
layout(location = 0) out vec4 eColor;
layout(location = 1) out float eShade;
void main() {
    float t = gl_TessCoord.x, s = 1.0 - t;
    vec4 bark = cBark[0] * (s * s) + cBark[1] * 2.0 * s * t + cBark[2] * t * t;
    vec4 velvet = mix(mix(cVelvet[0], cVelvet[1], t), mix(cVelvet[1], cVelvet[2], t), t);
    vec4 both = (bark + 0.25) * 0.5 + velvet;
    eColor = both * both;
    eShade = clamp(cRoot[2] * (1.0 - gl_TessCoord.y * 0.25), 0.1, 1.0);
    vec4 a = gl_in[0].gl_Position, b = gl_in[1].gl_Position, c = gl_in[2].gl_Position;
    gl_Position = mix(mix(a, b, t), mix(b, c, t), t);
    gl_Position.y += gl_TessCoord.y * 0.2;
}
