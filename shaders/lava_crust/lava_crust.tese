#version 450
// The mesh is captured for the physics: frames, drift, heat of three layers, and where it is. The
// picture needs the normal of the frame and one layer.
layout(triangles, equal_spacing, cw) in;
layout(location = 0) in vec3 cPlace[];
layout(location = 1) in vec4 cHeat[];
layout(location = 2) in vec3 cDrift[];
layout(location = 3) in vec4 cGlow[];
layout(xfb_buffer = 0, xfb_stride = 96) out gl_PerVertex {
    layout(xfb_offset = 80) vec4 gl_Position;
};
layout(location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 96) out mat3 eFrame;
layout(location = 3, xfb_buffer = 0, xfb_offset = 36, xfb_stride = 96) out float eLayers[3];
layout(location = 6) out Crust {
    layout(xfb_buffer = 0, xfb_offset = 48, xfb_stride = 96) vec3 drift;
    vec4 glow;
    layout(xfb_buffer = 0, xfb_offset = 64, xfb_stride = 96) vec4 heat;
} crust;
void main() {
    vec3 w = gl_TessCoord;
    vec3 place = cPlace[0] * w.x + cPlace[1] * w.y + cPlace[2] * w.z;
    vec4 heat = cHeat[0] * w.x + cHeat[1] * w.y + cHeat[2] * w.z;
    vec3 side = cPlace[1] - cPlace[0] + vec3(0.0, 0.0, 0.125);
    eFrame = mat3(side, cross(side, vec3(0.0, 0.0, 1.0)), vec3(heat.xy, 1.0));
    eLayers = float[](heat.x, heat.y * 0.5, heat.z * heat.w);
    crust.drift = cDrift[0] * w.x + cDrift[1] * w.y + cDrift[2] * w.z;
    crust.glow = cGlow[0] * w.x + cGlow[1] * w.y + cGlow[2] * w.z;
    crust.heat = heat;
    gl_Position = vec4(place, 1.0);
}
