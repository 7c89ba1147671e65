#version 450
// Stars of a catalogue: 64-bit names and times of which words are dead, constant or there twice.
#extension GL_ARB_gpu_shader_int64 : require
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 light; // colour, brightness
layout(location = 2) in uvec4 entry; // region, number, ticks, flags
layout(location = 3) in ivec2 drift;
layout(location = 0) flat out uint64_t vName; // region << 32 | number; only the region is shown
layout(location = 1) flat out uint64_t vTicks; // of 32 bits
layout(location = 2) flat out int64_t vDrift;
layout(location = 3) flat out double vDistance;
layout(location = 4) flat out uvec2 vKey; // the words of vHash
layout(location = 5) flat out uint64_t vHash;
layout(location = 6) flat out u64vec2 vRange; // pages of 4096: both words of the second are needed
layout(location = 7) out vec4 vLight;
void main() {
    vName = uint64_t(entry.x) << 32 | uint64_t(entry.y);
    vTicks = uint64_t(entry.z);
    vDrift = int64_t(drift.x) * (entry.w % 2u == 0u ? 1l : 1l);
    vDistance = 1.0LF / (double(light.w) + 0.001LF);
    uint folded = entry.x * 2654435761u ^ entry.y;
    vKey = uvec2(folded, entry.w);
    vHash = packUint2x32(vKey);
    vRange = u64vec2(uint64_t(entry.y) << 12, uint64_t(entry.z) * 0x9E3779B97F4A7C15ul);
    vLight = light * 0.5 + 0.5;
    gl_Position = vec4(position, 1.0);
    gl_PointSize = 1.0;
}
