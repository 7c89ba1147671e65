#version 450
// Dashes from a bit pattern, a halo, soft edges in screen space.

layout(location = 0) smooth in vec4 vColor;
layout(location = 1) noperspective in float vAcross;
layout(location = 2) noperspective in vec2 vAlong;
layout(location = 3) flat in uint vPattern;
layout(location = 4) centroid in vec3 vWorld;
layout(location = 5) flat in vec4 vHalo;
layout(location = 6) noperspective centroid in vec2 vScreen;
layout(location = 7) flat in vec2 vWidths;

layout(location = 0) out vec4 outColor;

bool dashed(float along)
{
    int bit = int(floor(along * vWidths.y * 4.0)) & 15;
    return ((vPattern >> uint(bit)) & 1u) == 0u;
}

void main()
{
    float edge = 1.0 - abs(vAcross);
    float soft = max(fwidth(vAcross), 1e-3);
    if (dashed(vAlong.x) && edge < 0.5)
        discard;
    float core = smoothstep(0.0, soft * 2.0, edge - 0.2);
    vec3 color = mix(vHalo.rgb * 0.5, vColor.rgb, core);
    color *= 0.8 + 0.2 * sin(vWorld.z * 12.0);
    float border = max(abs(vScreen.x), abs(vScreen.y));
    outColor = vec4(color, border > 0.97 ? 0.5 : vColor.a);
}
