"""Stores to a fragment shader's outputs that the same block stores over."""

from __future__ import annotations

import pytest

from tests.support.linking import link

VERTEX = (
    "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;"
    " void main() { a = sin(p); b = cos(p); gl_Position = p; }"
)
INPUTS = (
    "layout(location = 0) in vec4 a; layout(location = 1) in vec4 b;"
    " layout(set = 0, binding = 3) buffer Seen { vec4 seen; }; "
)


@pytest.mark.parametrize(
    ("body", "dies"),
    [
        ("o = a; o = b;", True),
        ("o.x = a.x; o.yz = a.yz; o = b;", True),
        ("o = a; vec4 n = normalize(b); o = n * 2.0;", True),
        ("o = a; o.xyz = b.xyz;", False),  # a.w is seen
        ("o = a; o = o + b;", False),
        ("o = a; o = o.wzyx;", False),
        ("o = a; if (b.x > 0.5) o = b;", False),
        ("o = a; if (b.x > 0.5) discard; o = b;", False),
        ("o = a; seen = b; o = b;", False),
        ("o = a; o = seen * b; o = b;", True),
        ("o = b; o = a;", False),
    ],
)
def test_what_is_stored_over_needs_no_input(body: str, dies: bool) -> None:
    done = link(VERTEX, f"{INPUTS} void main() {{ {body} }}")
    assert ("a" not in done.table()) == dies, done.fates()
