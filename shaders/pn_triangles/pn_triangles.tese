#version 450
// The cubic position and a plain interpolation of the rest.
layout(triangles, equal_spacing, ccw) in;
layout(push_constant) uniform Push { mat4 model; vec4 tint; float smoothness; } push;
layout(location = 0) in vec3 cPosition[];
layout(location = 1) in vec3 cNormal[];
layout(location = 2) in vec2 cUv[];
layout(location = 3) in vec4 cTangent[];
layout(location = 4) in vec4 cTint[];
layout(location = 5) in vec3 cEdge[][2];
layout(location = 7) patch in vec3 pCentre;
layout(location = 8) patch in float pArea;
layout(location = 0) out vec3 eNormal;
layout(location = 1) out vec2 eUv;
layout(location = 2) out vec4 eTangent;
layout(location = 3) out vec4 eTint;
layout(location = 4) out vec3 ePosition;
void main() {
    vec3 t = gl_TessCoord;
    eNormal = t.x * cNormal[0] + t.y * cNormal[1] + t.z * cNormal[2];
    eUv = t.x * cUv[0] + t.y * cUv[1] + t.z * cUv[2];
    eTangent = t.x * cTangent[0] + t.y * cTangent[1] + t.z * cTangent[2];
    eTint = t.x * cTint[0] + t.y * cTint[1] + t.z * cTint[2];
    vec3 flatPlace = t.x * cPosition[0] + t.y * cPosition[1] + t.z * cPosition[2];
    vec3 curved = cPosition[0] * t.x * t.x * t.x + cPosition[1] * t.y * t.y * t.y
        + cPosition[2] * t.z * t.z * t.z
        + 3.0 * (cEdge[0][0] * t.x * t.x * t.y + cEdge[0][1] * t.x * t.y * t.y)
        + 3.0 * (cEdge[1][0] * t.y * t.y * t.z + cEdge[1][1] * t.y * t.z * t.z)
        + 3.0 * (cEdge[2][0] * t.z * t.z * t.x + cEdge[2][1] * t.z * t.x * t.x)
        + 6.0 * pCentre * t.x * t.y * t.z;
    ePosition = mix(flatPlace, curved, push.smoothness);
    gl_Position = vec4(ePosition, 1.0);
}
