#version 450
// Edges again; the water's colour is handed on for nobody.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec3 eNormal[];
layout(location = 1) in vec2 eUv[];
layout(location = 2) in ivec2 eTile[];
layout(location = 3) in vec4 eSplat[];
layout(location = 4) in vec3 eWater[];
layout(location = 0) out vec3 gNormal;
layout(location = 1) out vec2 gUv;
layout(location = 2) flat out ivec2 gTile;
layout(location = 3) out vec4 gSplat;
layout(location = 4) out vec3 gWater;
layout(location = 5) out vec3 gEdges;
void main() {
    for (int i = 0; i < 3; ++i) {
        gNormal = eNormal[i];
        gUv = eUv[i];
        gTile = eTile[0];
        gSplat = eSplat[i];
        gWater = eWater[i];
        gEdges = vec3(0.0);
        gEdges[i] = 1.0;
        gl_Position = gl_in[i].gl_Position;
        EmitVertex();
    }
    EndPrimitive();
}
