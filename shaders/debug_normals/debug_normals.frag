#version 450
// Debug view: world normals as colours, with an arrow-like contour where the normal turns quickly.

layout(location = 1) in vec3 vNormal;

layout(location = 0) out vec4 outColor;

void main()
{
    float size = length(vNormal);
    vec3 n = vNormal / max(size, 1e-4);
    vec3 bend = fwidth(n);
    if (size < 1e-4) {
        outColor = vec4(1.0, 0.0, 1.0, 1.0);
        return;
    }
    float edge = smoothstep(0.02, 0.4, bend.x + bend.y + bend.z);
    vec3 base = n * 0.5 + 0.5;
    outColor = vec4(mix(base, base * 0.25, edge), 1.0);
}
