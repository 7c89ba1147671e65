#version 450
// A graticule that must not swim: cell lines computed in double from the tile's origin.

layout(set = 0, binding = 1) uniform sampler2D imagery;

layout(location = 0) flat in dvec2 vOrigin;
layout(location = 1) flat in double vCellSize;
layout(location = 2) in vec2 vUv;
layout(location = 3) in vec3 vLocal;
layout(location = 6) in vec3 vUp;

layout(location = 0) out vec4 outColor;

vec2 insideCell(dvec2 at)
{
    dvec2 cells = at / max(vCellSize, 0.01LF);
    return vec2(cells - floor(cells));
}

void main()
{
    dvec2 at = vOrigin + dvec2(vLocal.xy) * 256.0LF;
    vec2 inside = insideCell(at);
    vec2 edge = min(inside, 1.0 - inside);
    float line = 1.0 - smoothstep(0.02, 0.06, min(edge.x, edge.y));
    float size = max(length(vUp), 1e-3);
    float light = 0.4 + 0.6 * clamp(vUp.z / size, 0.0, 1.0);
    vec3 ground = texture(imagery, vUv).rgb * light;
    outColor = vec4(mix(ground, vec3(1.0, 1.0, 0.6), line * 0.7), 1.0);
}
