"""What the pairs of test_hazards.py are written in, and what nearly all of them declare."""

from __future__ import annotations

from dataclasses import dataclass

OUT = """
layout(location = 0) out vec4 o;
layout(location = 15) out vec4 unread;
"""
IN = """
layout(location = 0) in vec4 o;
"""
FLAT_OUT = """
layout(location = 1) flat out ivec4 q;
"""
FLAT_IN = """
layout(location = 1) flat in ivec4 q;
"""


@dataclass(frozen=True)
class Case:
    """Declarations and the body of main(), of a vertex and a fragment shader.

    The vertex shader has the attributes ``a``, ``b`` and ``k``, the fragment shader the output
    ``color``.
    """

    name: str
    vertex_globals: str
    vertex_main: str
    fragment_globals: str
    fragment_main: str
    extensions: tuple[str, ...] = ()
    samples: int = 1
    environment: str = "vulkan1.1"

    @property
    def extension_lines(self) -> str:
        return "".join(f"#extension {name} : require\n" for name in self.extensions)

    @property
    def vertex(self) -> str:
        return f"""#version 450
{self.extension_lines}layout(location = 0) in vec3 position;
layout(location = 1) in vec4 a;
layout(location = 2) in vec4 b;
layout(location = 3) in ivec4 k;
{self.vertex_globals}
void main() {{
gl_Position = vec4(position, 1.0);
{self.vertex_main}
}}
"""

    @property
    def fragment(self) -> str:
        return f"""#version 450
{self.extension_lines}layout(location = 0) out vec4 color;
{self.fragment_globals}
void main() {{
{self.fragment_main}
}}
"""
