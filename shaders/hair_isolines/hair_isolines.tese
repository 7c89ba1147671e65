#version 450
// A cubic along the strand, strands spread sideways.
layout(isolines, equal_spacing) in;
layout(location = 0) in vec3 cRootColor[];
layout(location = 1) in vec3 cTipColor[];
layout(location = 2) in float cStiffness[];
layout(location = 3) in float cThickness[];
layout(location = 0) out vec3 eColor;
layout(location = 1) out float eStiffness;
layout(location = 2) out float eThickness;
layout(location = 3) out float eAlong;
void main() {
    float t = gl_TessCoord.x, s = 1.0 - t;
    vec4 place = gl_in[0].gl_Position * s * s * s + gl_in[1].gl_Position * 3.0 * s * s * t
        + gl_in[2].gl_Position * 3.0 * s * t * t + gl_in[3].gl_Position * t * t * t;
    place.x += (gl_TessCoord.y - 0.5) * 0.3;
    eColor = mix(cRootColor[2], cTipColor[1], t);
    eStiffness = mix(cStiffness[0], cStiffness[3], t);
    eThickness = cThickness[0];
    eAlong = t;
    gl_Position = place;
}
