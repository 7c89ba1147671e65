#version 450
// A map of regions; what is picked goes to an integer target.
#extension GL_ARB_gpu_shader_int64 : require
layout(location = 0) flat in uint64_t vName;
layout(location = 1) flat in uint64_t vTicks;
layout(location = 2) flat in int64_t vDrift;
layout(location = 3) flat in double vDistance;
layout(location = 4) flat in uvec2 vKey;
layout(location = 5) flat in uint64_t vHash;
layout(location = 6) flat in u64vec2 vRange;
layout(location = 7) in vec4 vLight;
layout(location = 0) out vec4 color;
layout(location = 1) out uvec4 picked;
void main() {
    uint column = uint(gl_FragCoord.x), row = uint(gl_FragCoord.y);
    uint region = uint(vName >> 32);
    float band = float((region ^ column) & 15u) / 15.0;
    double depth = abs(vDistance) * double(column + 1u);
    color = vec4(mix(vLight.rgb, vec3(band), 0.25), float(fract(depth)));
    uint64_t hash = vHash * (2ul * uint64_t(row) + 1ul);
    uint64_t age = (vTicks + uint64_t(column)) * 1000003ul;
    int64_t moved = vDrift * int64_t(row + 1u) / 7l;
    uvec2 pages = uvec2(vRange.x, uint(vRange.y >> (column & 31u)));
    picked = uvec4(uint(hash >> 29) ^ vKey.x, uint(age >> 20), uint(moved), pages.x ^ pages.y);
}
