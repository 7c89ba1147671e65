"""Small pipelines of every kind of chain, each value of which shows in the result.

``CHAINS[name]`` is a list of (stage, GLSL). They are the ground on which tests plant miscompiles.
"""

from __future__ import annotations

VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec3 v_normal;
layout(location = 1) out vec2 v_uv;
layout(location = 2) out vec4 v_shade;
layout(location = 3) out ivec2 v_kind;
void main() {
    v_normal = normal;
    v_uv = uv;
    v_shade = vec4(normal.zx, uv.y, 1.0) * 0.5;
    v_kind.xy = ivec2(gl_VertexIndex % 7, gl_VertexIndex / 3);
    gl_Position = vec4(position, 1.0);
}
"""
CONTROL = """#version 450
layout(vertices = 3) out;
layout(location = 0) in vec3 v_normal[];
layout(location = 1) in vec2 v_uv[];
layout(location = 2) in vec4 v_shade[];
layout(location = 3) in ivec2 v_kind[];
layout(location = 0) out vec3 c_normal[];
layout(location = 1) out vec2 c_uv[];
layout(location = 2) out vec4 c_shade[];
layout(location = 3) patch out vec4 p_tint;
layout(location = 4) patch out float p_weights[2];
layout(location = 6) out float c_next[];
void main() {
    int i = gl_InvocationID;
    c_normal[gl_InvocationID] = v_normal[i];
    c_uv[gl_InvocationID] = v_uv[i] * 2.0;
    c_shade[gl_InvocationID] = v_shade[i];
    gl_out[gl_InvocationID].gl_Position = gl_in[i].gl_Position;
    if (i == 0) {
        p_tint = vec4(v_normal[0].x, v_uv[1], float(v_kind[2].x) * 0.1);
        p_weights[0] = v_uv[0].x;
        p_weights[1] = v_uv[1].y * 3.0;
        gl_TessLevelOuter[0] = 2.0;
        gl_TessLevelOuter[1] = 3.0 + float(v_kind[0].y & 1);
        gl_TessLevelOuter[2] = 4.0;
        gl_TessLevelInner[0] = 3.0;
    }
    barrier();
    c_next[gl_InvocationID] = c_uv[(i + 1) % 3].x;
}
"""
EVALUATION = """#version 450
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in vec3 c_normal[];
layout(location = 1) in vec2 c_uv[];
layout(location = 2) in vec4 c_shade[];
layout(location = 3) patch in vec4 p_tint;
layout(location = 4) patch in float p_weights[2];
layout(location = 6) in float c_next[];
layout(location = 0) out vec3 e_normal;
layout(location = 1) out vec4 e_colour;
layout(location = 2) flat out float e_flat;
void main() {
    vec3 t = gl_TessCoord;
    e_normal = c_normal[0] * t.x + c_normal[1] * t.y + c_normal[2] * t.z;
    vec2 uv = c_uv[0] * t.x + c_uv[1] * t.y + c_uv[2] * t.z;
    vec4 shade = c_shade[0] * t.x + c_shade[1] * t.y + c_shade[2] * t.z;
    float next = c_next[0] * t.x + c_next[1] * t.y + c_next[2] * t.z;
    e_colour = shade * p_weights[0] + vec4(uv, next, p_weights[1]) + p_tint;
    e_flat = p_tint.w;
    vec4 place = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y;
    gl_Position = place + gl_in[2].gl_Position * t.z;
}
"""
TESS_FRAG = """#version 450
layout(location = 0) in vec3 e_normal;
layout(location = 1) in vec4 e_colour;
layout(location = 2) flat in float e_flat;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
void main() { a = vec4(e_normal, e_flat); b = e_colour; }
"""
GEOMETRY = """#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices = 4) out;
layout(location = 0) in vec3 v_normal[];
layout(location = 1) in vec2 v_uv[];
layout(location = 2) in vec4 v_shade[];
layout(location = 3) in ivec2 v_kind[];
layout(location = 0) out vec3 g_normal;
layout(location = 1) out vec4 g_colour;
layout(location = 2) flat out ivec2 g_kind;
void main() {
    for (int i = 0; i < 3; ++i) {
        g_normal = v_normal[i];
        g_colour = v_shade[i] + vec4(v_uv[2 - i], 0.0, 0.25);
        g_kind = v_kind[0] + i;
        gl_Position = gl_in[i].gl_Position;
        gl_PrimitiveID = gl_PrimitiveIDIn * 2;
        EmitVertex();
    }
    g_normal = v_normal[1] * 0.5;
    g_colour = v_shade[0].wzyx;
    g_kind = v_kind[2];
    gl_Position = gl_in[0].gl_Position + vec4(0.2, -0.3, 0.1, 0.0);
    gl_PrimitiveID = 7;
    EmitVertex();
    EndPrimitive();
}
"""
GEOM_FRAG = """#version 450
layout(location = 0) in vec3 g_normal;
layout(location = 1) in vec4 g_colour;
layout(location = 2) flat in ivec2 g_kind;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
layout(location = 2) out ivec4 c;
void main() { a = vec4(g_normal, 1.0); b = g_colour; c = ivec4(g_kind, gl_PrimitiveID, 1); }
"""
TASK = """#version 450
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 1) in;
struct Payload { vec4 tint; float scale; uint group; uint material[2]; };
taskPayloadSharedEXT Payload payload;
void main() {
    payload.tint = vec4(float(gl_WorkGroupID.x) * 0.05, 0.25, 0.5, 1.0);
    payload.scale = 0.4 + float(gl_WorkGroupID.x & 1u) * 0.05;
    payload.group = gl_WorkGroupID.x;
    payload.material[0] = gl_WorkGroupID.x * 3u;
    payload.material[1] = 40u;
    EmitMeshTasksEXT(2, 1, 1);
}
"""
MESH = """#version 450
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 4) in;
layout(triangles, max_vertices = 4, max_primitives = 2) out;
struct Payload { vec4 tint; float scale; uint group; uint material[2]; };
taskPayloadSharedEXT Payload payload;
layout(location = 0) out vec4 m_colour[];
layout(location = 1) out vec2 m_uv[];
layout(location = 2) perprimitiveEXT out uint m_material[];
layout(location = 3) perprimitiveEXT out vec4 m_tint[];
void main() {
    uint i = gl_LocalInvocationIndex;
    SetMeshOutputsEXT(4, 2);
    vec2 corner = vec2(i & 1u, i >> 1u);
    vec2 cell = vec2(payload.group & 3u, payload.group >> 2u) * 0.5 - 1.0;
    cell += float(gl_WorkGroupID.x) * 0.1;
    gl_MeshVerticesEXT[i].gl_Position = vec4(cell + corner * payload.scale, 0.5, 1.0);
    m_colour[i] = payload.tint * (0.5 + float(i));
    m_uv[(i + 1u) & 3u] = corner;
    if (i < 2u) {
        m_material[i] = payload.material[i] + i;
        m_tint[1u - i] = payload.tint.wzyx + float(i);
        gl_PrimitiveTriangleIndicesEXT[i] = uvec3(i, i + 1u, i + 2u);
        gl_MeshPrimitivesEXT[i].gl_PrimitiveID = int(payload.group * 2u + i);
    }
}
"""
MESH_FRAG = """#version 450
#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec4 m_colour;
layout(location = 1) in vec2 m_uv;
layout(location = 2) perprimitiveEXT flat in uint m_material;
layout(location = 3) perprimitiveEXT in vec4 m_tint;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
layout(location = 2) out uvec4 c;
void main() {
    a = m_colour;
    b = vec4(m_uv, 0.0, 0.0) + m_tint;
    c = uvec4(m_material, gl_PrimitiveID, 0, 0);
}
"""
XFB_VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 weights;
layout(location = 0, xfb_buffer = 0, xfb_offset = 16, xfb_stride = 48) out vec3 x_normal;
layout(location = 1, xfb_buffer = 0, xfb_offset = 32, xfb_stride = 48) out vec4 x_weights;
layout(location = 2, xfb_buffer = 1, xfb_offset = 0, xfb_stride = 24) out vec2 x_pair;
layout(location = 3, xfb_buffer = 1, xfb_offset = 8, xfb_stride = 24) flat out ivec2 x_kind;
layout(location = 4, xfb_buffer = 1, xfb_offset = 16, xfb_stride = 24) flat out double x_wide;
layout(xfb_buffer = 0, xfb_stride = 48) out gl_PerVertex {
    layout(xfb_offset = 0) vec4 gl_Position; float gl_PointSize;
};
void main() {
    x_normal = normal * 2.0;
    x_weights = weights.wzyx;
    x_pair = weights.xy + normal.yz;
    x_kind = ivec2(gl_VertexIndex, gl_InstanceIndex + 5);
    x_wide = double(normal.x) / 3.0LF;
    gl_Position = vec4(position, 1.0);
    gl_PointSize = 2.0;
}
"""
XFB_GEOMETRY = """#version 450
layout(triangles) in;
layout(points, max_vertices = 6) out;
layout(location = 0) in vec3 v_normal[];
layout(location = 1) in vec2 v_uv[];
layout(stream = 0, location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) out vec4 first;
layout(stream = 1, location = 1, xfb_buffer = 1, xfb_offset = 4, xfb_stride = 16) out vec2 second;
void main() {
    for (int i = 0; i < 3; ++i) {
        first = vec4(v_normal[i], 1.0);
        gl_Position = gl_in[i].gl_Position;
        gl_PointSize = 3.0;
        EmitStreamVertex(0);
        EndStreamPrimitive(0);
        second = v_uv[i];
        EmitStreamVertex(1);
        EndStreamPrimitive(1);
    }
}
"""
ALL_GEOMETRY = """#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec3 e_normal[];
layout(location = 1) in vec4 e_colour[];
layout(location = 2) in float e_flat[];
layout(location = 0) out vec3 g_normal;
layout(location = 1) out vec4 g_colour;
layout(location = 2) flat out float g_flat;
void main() {
    for (int i = 0; i < 3; ++i) {
        g_normal = e_normal[i];
        g_colour = e_colour[(i + 1) % 3];
        g_flat = e_flat[0];
        gl_Position = gl_in[i].gl_Position;
        gl_Layer = gl_PrimitiveIDIn % 3;
        EmitVertex();
    }
}
"""

CHAINS: dict[str, list[tuple[str, str]]] = {
    "tessellation": [
        ("vert", VERT), ("tesc", CONTROL), ("tese", EVALUATION), ("frag", TESS_FRAG),
    ],
    "geometry": [("vert", VERT), ("geom", GEOMETRY), ("frag", GEOM_FRAG)],
    "all": [
        ("vert", VERT), ("tesc", CONTROL), ("tese", EVALUATION), ("geom", ALL_GEOMETRY),
        ("frag", TESS_FRAG),
    ],
    "mesh": [("task", TASK), ("mesh", MESH), ("frag", MESH_FRAG)],
    "feedback": [("vert", XFB_VERT)],
    "streams": [("vert", VERT), ("geom", XFB_GEOMETRY)],
}  # fmt: skip
