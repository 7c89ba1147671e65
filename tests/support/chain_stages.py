"""Chains of every kind of stage, linked with every pass checked."""

from __future__ import annotations

import spvlink
from tests.support.chain_hazards import PASS, frag, geom, tesc, tese, vert

Stages = list[tuple[str, str]]
TRIANGLES: Stages = [
    vert(
        "layout(location = 0) out vec4 c; layout(location = 3) out vec4 unread;",
        "c = a; unread = b * 2.0;",
    ),
    geom(
        """layout(location = 0) in vec4 c[]; layout(location = 3) in vec4 unread[];
layout(location = 0) out vec4 p; layout(location = 4) out vec4 lost;""",
        f"for (int i = 0; i < 3; ++i) {{ p = c[i]; lost = unread[i]; {PASS} }}",
    ),
    frag("layout(location = 0) in vec4 p;", "color = p;"),
]
PATCHES: Stages = [
    vert("layout(location = 0) out vec4 c; layout(location = 3) out float s;", "c = a; s = b.x;"),
    tesc(
        """layout(location = 0) in vec4 c[]; layout(location = 3) in float s[];
layout(location = 0) out vec4 p[]; layout(location = 5) patch out float q;""",
        "p[gl_InvocationID] = c[gl_InvocationID]; q = s[0];",
    ),
    tese(
        """layout(location = 0) in vec4 p[]; layout(location = 5) patch in float q;
layout(location = 0) out vec4 f; layout(location = 2) out float g;""",
        "f = p[0] * w.x + p[1] * w.y + p[2] * w.z; g = q * w.x;",
    ),
    frag("layout(location = 0) in vec4 f; layout(location = 2) in float g;", "color = f * g;"),
]


def run(codes: list[bytes], **settings: object) -> spvlink.Linked:
    options = spvlink.Options(clean=True)
    options.check_each = True
    for name, value in settings.items():
        setattr(options, name, value)
    linked = spvlink.link(codes, options)
    assert linked.defect is None, linked.defect
    return linked
