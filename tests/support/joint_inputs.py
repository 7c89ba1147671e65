"""Inputs of several consumers of one frozen interface."""

from __future__ import annotations

OUTPUTS = """layout(location = 1) out vec4 lit; layout(location = 2) out vec4 one;
layout(location = 3) out vec4 twin; layout(location = 4) out vec4 gone;
layout(location = 5) flat out ivec2 id; layout(location = 6) out vec2 never;
"""
INPUTS = OUTPUTS.replace(" out ", " in ")
