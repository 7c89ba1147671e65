#version 450
// Back faces get the cap colour, the cut edge a bright line.

layout(location = 0) in vec3 vNormal;
layout(location = 1) in vec4 vColor;
layout(location = 2) in vec2 vDistances;
layout(location = 3) in vec4 vCap;

layout(location = 0) out vec4 outColor;

void main()
{
    float nearest = min(vDistances.x, vDistances.y);
    float line = 1.0 - smoothstep(0.0, 0.05, nearest);
    vec3 edge = vec3(1.0, 0.8, 0.1) * line;
    if (!gl_FrontFacing) {
        outColor = vec4(vCap.rgb * 0.6 + edge, 1.0);
        return;
    }
    float size = max(length(vNormal), 1e-3);
    float light = 0.5 + 0.5 * vNormal.z / size;
    outColor = vec4(vColor.rgb * light + edge, vColor.a);
}
