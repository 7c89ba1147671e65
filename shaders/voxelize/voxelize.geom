#version 450
// The dominant axis: integers and a box that are equal for the triangle.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec3 vWorld[];
layout(location = 1) in vec3 vNormal[];
layout(location = 2) in vec2 vUv[];
layout(location = 3) in uint vMaterial[];
layout(location = 4) in vec3 vLight[];
layout(location = 0) out vec3 gWorld;
layout(location = 1) out vec2 gUv;
layout(location = 2) flat out ivec2 gAxisMaterial;
layout(location = 3) flat out vec4 gBox;
layout(location = 4) out vec3 gLight;
layout(location = 5) flat out int gAxisAgain;
void main() {
    vec3 face = abs(cross(vWorld[1] - vWorld[0], vWorld[2] - vWorld[0]));
    int axis = face.x > face.y ? (face.x > face.z ? 0 : 2) : (face.y > face.z ? 1 : 2);
    vec2 low = min(vWorld[0].xy, min(vWorld[1].xy, vWorld[2].xy));
    vec2 high = max(vWorld[0].xy, max(vWorld[1].xy, vWorld[2].xy));
    for (int i = 0; i < 3; ++i) {
        gWorld = vWorld[i];
        gUv = vUv[i];
        gAxisMaterial = ivec2(axis, int(vMaterial[0]));
        gAxisAgain = axis;
        gBox = vec4(low, high);
        gLight = vLight[i];
        vec3 p = vWorld[i] * 2.0 - 1.0;
        p = axis == 0 ? p.yzx : axis == 1 ? p.zxy : p;
        gl_Position = vec4(p.xy, 0.5, 1.0);
        EmitVertex();
    }
    EndPrimitive();
}
