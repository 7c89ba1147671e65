#version 450
// Sample, centroid and noperspective inputs beside a plain one that is interpolated by hand.
layout(location = 0) in vec4 eTone;
layout(location = 1) sample in vec4 eToneSample;
layout(location = 2) centroid in vec4 eToneCentroid;
layout(location = 3) noperspective in vec4 eToneScreen;
layout(location = 4) in vec2 eUv;
layout(location = 0) out vec4 color;
void main() {
    vec4 offset = interpolateAtOffset(eTone, vec2(0.25, -0.25));
    color = eToneSample + eToneCentroid * 0.5 + eToneScreen * 0.25 + offset;
    color.xy += eUv;
}
