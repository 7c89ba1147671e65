#version 450
// A globe viewer: coordinates in double precision, some of them handed on flat per tile.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inFraction;
layout(location = 2) in vec2 inUv;

layout(set = 0, binding = 0, std140) uniform Globe {
    mat4 viewProjection;
    vec4 tileOrigin;
    vec4 tileFraction;
    vec4 sun;
    int level;
} globe;

layout(location = 0) flat out dvec2 vOrigin;
layout(location = 1) flat out double vCellSize;
layout(location = 2) out vec2 vUv;
layout(location = 3) out vec3 vLocal;
layout(location = 4) flat out dvec3 vCenter;     // two Locations; nobody reads it
layout(location = 6) out vec3 vUp;

dvec3 joined(vec3 high, vec3 low)
{
    return dvec3(high) * 4096.0LF + dvec3(low);
}

void main()
{
    dvec3 here = joined(inPosition, inFraction * 0.5);
    dvec3 tile = joined(globe.tileOrigin.xyz, globe.tileFraction.xyz);
    dvec3 relative = here - tile;
    int level = clamp(globe.level, 0, 10);
    vOrigin = tile.xy;
    vCellSize = 64.0LF / double(1 << level);
    vUv = inUv;
    vLocal = vec3(relative / 4096.0LF);
    vCenter = tile + relative * 0.5LF;
    vUp = inPosition + vec3(0.0, 0.0, 1.0);
    vec4 clip = globe.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
