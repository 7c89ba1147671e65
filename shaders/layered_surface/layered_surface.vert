#version 450
// Structs inside structs as varyings: a coated surface of two layers, copied as a whole.

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec2 inUv;
layout(location = 3) in vec4 inColor;

layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 viewProjection;
    mat4 world;
    vec4 coat;
    vec4 flake;
    vec4 light;
    int variant;
} scene;

struct Layer {
    vec4 tint;           // a: strength
    vec2 uv;
    float roughness;
};
struct Geometry {
    vec3 position;
    vec3 normal;
};
struct Paint {
    Geometry geometry;
    Layer base;
    Layer coat;
    float wear;
};

layout(location = 0) out Paint vPaint;
layout(location = 12) out Geometry vShell;       // the surface a little further out

Layer makeLayer(vec4 tint, vec2 uv, float roughness)
{
    Layer layer;
    layer.tint = tint;
    layer.uv = uv;
    layer.roughness = clamp(roughness, 0.05, 1.0);
    return layer;
}

Geometry makeGeometry(vec3 position, vec3 normal)
{
    Geometry g;
    g.position = (scene.world * vec4(position, 1.0)).xyz;
    g.normal = mat3(scene.world) * normal;
    return g;
}

void main()
{
    Paint paint;
    paint.geometry = makeGeometry(inPosition, inNormal);
    paint.base = makeLayer(abs(inColor), inUv, 0.6);
    paint.coat = paint.base;
    if (scene.variant != 0)
        paint.coat = makeLayer(abs(scene.coat), inUv * 4.0, abs(scene.flake.x));
    paint.coat.tint.a = 0.5;
    paint.wear = inColor.a;

    Geometry shell = paint.geometry;
    shell.position += shell.normal * 0.05;
    vShell = shell;
    vPaint = paint;
    vec4 clip = scene.viewProjection * vec4(paint.geometry.position, 1.0);
    clip.z = 0.5 * (clip.z + clip.w);
    gl_Position = clip;
}
