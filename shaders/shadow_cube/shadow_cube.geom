#version 450
// Every triangle goes to six layers.
layout(triangles) in;
layout(triangle_strip, max_vertices = 18) out;
layout(set = 0, binding = 0) uniform Light { mat4 faces[6]; vec4 place; float range; } light;
layout(location = 0) in vec3 vWorld[];
layout(location = 1) in vec2 vUv[];
layout(location = 2) in vec3 vNormal[];
layout(location = 3) in float vRange[];
layout(location = 0) out vec3 gToLight;
layout(location = 1) out vec2 gUv;
layout(location = 2) out float gRange;
layout(location = 3) flat out int gFace;
void main() {
    for (int face = 0; face < 6; ++face) {
        for (int i = 0; i < 3; ++i) {
            gToLight = vWorld[i] - light.place.xyz;
            gUv = vUv[i];
            gRange = vRange[i];
            gFace = face;
            gl_Layer = face;
            gl_Position = light.faces[face] * gl_in[i].gl_Position;
            EmitVertex();
        }
        EndPrimitive();
    }
}
