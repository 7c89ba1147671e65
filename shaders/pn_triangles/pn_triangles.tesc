#version 450
// The ten control points of each triangle: three stay with the vertices, the rest are the patch's.
layout(vertices = 3) out;
layout(location = 0) in vec3 vPosition[];
layout(location = 1) in vec3 vNormal[];
layout(location = 2) in vec2 vUv[];
layout(location = 3) in vec4 vTangent[];
layout(location = 4) in vec4 vTint[];
layout(location = 0) out vec3 cPosition[];
layout(location = 1) out vec3 cNormal[];
layout(location = 2) out vec2 cUv[];
layout(location = 3) out vec4 cTangent[];
layout(location = 4) out vec4 cTint[];
layout(location = 5) out vec3 cEdge[][2];
layout(location = 7) patch out vec3 pCentre;
layout(location = 8) patch out float pArea;
vec3 project(int from, int to) {
    vec3 way = vPosition[to] - vPosition[from];
    float along = dot(way, vNormal[from]);
    return (2.0 * vPosition[from] + vPosition[to] - along * vNormal[from]) / 3.0;
}
void main() {
    int next = (gl_InvocationID + 1) % 3;
    cPosition[gl_InvocationID] = vPosition[gl_InvocationID];
    cNormal[gl_InvocationID] = vNormal[gl_InvocationID];
    cUv[gl_InvocationID] = vUv[gl_InvocationID];
    cTangent[gl_InvocationID] = vTangent[gl_InvocationID];
    cTint[gl_InvocationID] = vTint[gl_InvocationID];
    cEdge[gl_InvocationID][0] = project(gl_InvocationID, next);
    cEdge[gl_InvocationID][1] = project(next, gl_InvocationID);
    barrier();
    if (gl_InvocationID == 0) {
        vec3 edges = vec3(0.0);
        for (int i = 0; i < 3; ++i) edges += cEdge[i][0] + cEdge[i][1];
        vec3 corners = vPosition[0] + vPosition[1] + vPosition[2];
        pCentre = edges / 6.0 + (edges / 6.0 - corners / 3.0) * 0.5;
        pArea = length(cross(vPosition[1] - vPosition[0], vPosition[2] - vPosition[0]));
        gl_TessLevelOuter[0] = 3.0;
        gl_TessLevelOuter[1] = 3.0;
        gl_TessLevelOuter[2] = 3.0;
        gl_TessLevelInner[0] = 3.0;
    }
}
