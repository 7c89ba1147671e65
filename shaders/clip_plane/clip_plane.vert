#version 450
// Section view of a model: two user clip planes and a point size, all needed by fixed functions.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inColor;

layout(set = 0, binding = 0, std140) uniform Section {
    mat4 viewProjection;
    vec4 planes[2];
    vec4 capColor;
    float pointSize;
    int enabled;
} section;

out gl_PerVertex {
    vec4 gl_Position;
    float gl_PointSize;
    float gl_ClipDistance[2];
};

layout(location = 0) out vec3 vNormal;
layout(location = 1) out vec4 vColor;
layout(location = 2) out vec2 vDistances;
layout(location = 3) out vec4 vCap;
layout(location = 4) out vec3 vModel;

float distanceTo(int plane)
{
    if ((section.enabled & (1 << plane)) == 0)
        return 1.0;
    vec4 p = section.planes[plane];
    return dot(p.xyz, inPosition) + 0.4 + 0.3 * p.w;
}

void main()
{
    float first = distanceTo(0);
    float second = distanceTo(1);
    gl_ClipDistance[0] = first;
    gl_ClipDistance[1] = second;
    gl_PointSize = 1.0 + 2.0 * abs(section.pointSize);
    vNormal = inNormal;
    vColor = abs(inColor);
    vDistances = vec2(first, second);
    vCap = vec4(abs(section.capColor.rgb), 1.0);
    vModel = inPosition * 4.0;
    vec4 clip = section.viewProjection * vec4(inPosition, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
