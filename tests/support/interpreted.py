"""Tests that change the inside of spvlink: where mypyc has compiled it, nobody would notice."""

from __future__ import annotations

import pytest

import spvlink

interpreted = pytest.mark.skipif(
    spvlink.COMPILED, reason="changes the inside of spvlink, which is compiled here"
)
