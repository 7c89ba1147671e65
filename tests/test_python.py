"""The face for Python: keywords, what is raised, what help() shows."""

from __future__ import annotations

import inspect
import pydoc
from pathlib import Path

import pytest

import spvlink
from tests.chains import build

VERT, FRAG = build("debug_uv")


def test_options_are_keywords() -> None:
    by_keyword = spvlink.link([VERT, FRAG], exact=True, disabled=["compact", "dead"])
    options = spvlink.Options(exact=True, disabled=["compact", "dead"])
    by_options = spvlink.link([VERT, FRAG], options)
    plain = spvlink.link([VERT, FRAG])
    data = [[s.data for s in linked.stages] for linked in (by_keyword, by_options, plain)]
    assert data[0] == data[1] != data[2]


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(spvlink.Usage, match="given twice"):
        spvlink.link([VERT, FRAG], spvlink.Options(), exact=True)
    with pytest.raises(spvlink.Usage, match="no optimization is called speed"):
        spvlink.link([VERT, FRAG], disabled=["speed"])
    with pytest.raises(spvlink.Usage, match="no stage is called pixel"):
        spvlink.link([VERT, FRAG], keep_interface=["pixel"])
    with pytest.raises(spvlink.Usage, match="at least once"):
        spvlink.link([VERT, FRAG], expect=(0, 1))
    with pytest.raises(TypeError, match="fast"):
        spvlink.link([VERT, FRAG], fast=True)  # type: ignore[call-arg]


def test_help_says_what_there_is() -> None:
    text = pydoc.plain(pydoc.render_doc(spvlink))
    for name in spvlink.__all__:
        assert name in text, name
    doc = inspect.getdoc(spvlink.Options) or ""
    for name in spvlink.Options.__slots__:
        assert f"\n{name} " in doc, name
    keywords = inspect.signature(spvlink.Options).parameters
    assert set(keywords) == set(spvlink.Options.__slots__)


def test_the_package_is_typed() -> None:
    assert (Path(spvlink.__file__).parent / "py.typed").exists()
