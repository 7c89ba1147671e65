"""The face for Python: keywords, what is raised, what help() shows."""

from __future__ import annotations

import inspect
import os
import pydoc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import spvlink
from tests.support.chains import build

VERT, FRAG = build("debug_uv")


def test_options_are_keywords() -> None:
    by_keyword = spvlink.link([VERT, FRAG], exact=True, disable=["compact", "dead"])
    options = spvlink.Options(exact=True, disable=["compact", "dead"])
    by_options = spvlink.link([VERT, FRAG], options)
    plain = spvlink.link([VERT, FRAG])
    data = [[s.data for s in linked.stages] for linked in (by_keyword, by_options, plain)]
    assert data[0] == data[1] != data[2]


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(spvlink.Usage, match="given twice"):
        spvlink.link([VERT, FRAG], spvlink.Options(), exact=True)
    with pytest.raises(spvlink.Usage, match="no optimization is called speed"):
        spvlink.link([VERT, FRAG], disable=["speed"])
    with pytest.raises(spvlink.Usage, match="no stage is called pixel"):
        spvlink.link([VERT, FRAG], keep_interface=["pixel"])
    with pytest.raises(spvlink.Usage, match="at least once"):
        spvlink.link([VERT, FRAG], expect=(0, 1))
    with pytest.raises(TypeError, match="unknown option fast; see help"):
        spvlink.link([VERT, FRAG], fast=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"unknown option disabled \(did you mean disable\?\)"):
        spvlink.link([VERT, FRAG], disabled=["dead"])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="disable: expected a list of names, not str"):
        spvlink.link([VERT, FRAG], disable="dead")
    with pytest.raises(TypeError, match="keep_interface: expected a list of names, not str"):
        spvlink.Options(keep_interface="frag")
    with pytest.raises(TypeError, match="keep_interface: expected a list of names, not int"):
        spvlink.Options(keep_interface=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"layout": "layout.json"}, "layout: expected a dict, as --layout reads it, not 'la"),
        ({"layout": {"sets": []}}, "the layout: unknown key 'sets'"),
        ({"spec": "vert:1=2"}, "spec: expected {(stage, SpecId): value}, not str"),
        ({"spec": {1: "2"}}, "spec: expected {(stage, SpecId): value}, not the key 1"),
        ({"target_env": "vulkan9"}, "there is no target environment vulkan9"),
        ({"exact": "no"}, "exact: expected True or False, not 'no'"),
        ({"relaxed": 1}, "relaxed: expected True or False, not 1"),
        ({"relaxed": True, "exact": True}, "relaxed and exact exclude each other"),
        ({"validate": 0}, "validate: expected True or False, not 0"),
        ({"cost_limit": "9"}, "cost_limit: expected a number, not '9'"),
        ({"expect": 8}, "expect: expected two numbers, not 8"),
        ({"pack": "tight"}, "there is no packing tight"),
    ],
)
def test_settings_of_another_type_say_what_was_expected(
    settings: dict[str, Any], says: str
) -> None:
    with pytest.raises((TypeError, spvlink.Usage)) as raised:
        spvlink.link([VERT, FRAG], **settings)
    assert str(raised.value).startswith(says)


def test_help_says_what_there_is() -> None:
    text = pydoc.plain(pydoc.render_doc(spvlink))
    for name in spvlink.__all__:
        assert name in text, name
    doc = inspect.getdoc(spvlink.Options) or ""
    keywords = inspect.signature(spvlink.Options).parameters
    for name in keywords:
        assert f"\n{name} " in doc, name
    assert set(keywords) == {*spvlink.Options.__slots__, "gpu"}  # which sets others


def test_the_package_is_typed() -> None:
    assert (Path(spvlink.__file__).parent / "py.typed").exists()


def test_modules_are_given_in_every_form(tmp_path: Path) -> None:
    expected = [s.data for s in spvlink.link([VERT, FRAG]).stages]
    vertex, fragment = tmp_path / "a.vert.spv", tmp_path / "a.frag.spv"
    vertex.write_bytes(VERT)
    fragment.write_bytes(FRAG)
    forms: list[tuple[Any, Any]] = [
        (bytearray(VERT), memoryview(FRAG)),
        (vertex, str(fragment)),
        (f"{vertex}:main", f"{fragment}:main:frag"),
        (spvlink.Source(VERT), fragment),
    ]
    for form in forms:
        assert [s.data for s in spvlink.link(form).stages] == expected, form
        assert [s.data for s in spvlink.link(iter(form)).stages] == expected, form
    results = sorted(spvlink.batch([list(form) for form in forms]), key=lambda b: b.index)
    assert [[s.data for s in result.linked.stages] for result in results] == [expected] * 4
    frozen = [spvlink.link_frozen(form)[0] for form in forms]
    assert len({tuple(s.data for s in linked.stages) for linked in frozen}) == 1


def test_glsl_is_compiled(tmp_path: Path) -> None:
    file = tmp_path / "a.vert"
    file.write_text("#version 450\nvoid main() { gl_Position = vec4(0); }\n")
    (stage,) = spvlink.link([str(file)], target_env="vulkan1.1").stages
    assert stage.stage == "vert" and stage.file == str(file)


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        ((VERT, FRAG), TypeError, "options: expected spvlink.Options, not bytes; stages are one"),
        ((VERT,), TypeError, "expected a list of modules, as in link([vertex"),
        ((3,), TypeError, "expected a list of modules, as in link([vertex, fragment]), not int"),
        ((None,), TypeError, "expected a list of modules, as in link([vertex, fragment]), not No"),
        (
            ("a.spv",),
            TypeError,
            "expected a list of modules, as in link([vertex",
        ),
        (
            ({"vert": VERT, "frag": FRAG},),
            TypeError,
            "expected a list of modules, as in link([vertex, fragment]), not dict",
        ),
        (([VERT, 3],), TypeError, "stage 1: expected bytes, a path or a spvlink.Source, not int"),
        (([VERT, None],), TypeError, "stage 1: expected bytes, a path or a spvlink.Source, not No"),
        (([],), spvlink.Usage, "there are no stages to link"),
        ((["none.spv", FRAG],), spvlink.Usage, "none.spv: cannot read it: No such file"),
        (([Path("none.spv")],), spvlink.Usage, "none.spv: cannot read it: No such file"),
    ],
)
def test_misuse_says_what_was_expected(
    words: tuple[Any, ...], error: type[Exception], says: str
) -> None:
    with pytest.raises(error) as raised:
        spvlink.link(*words)
    assert str(raised.value).startswith(says)


def test_a_traceback_says_which_module_is_bad(tmp_path: Path) -> None:
    path = tmp_path / "a.frag.spv"
    path.write_bytes(FRAG[:40])
    for bad, where in ((b"", "stage 1 of the list"), (path, str(path))):
        with pytest.raises(spvlink.BadSpirv) as raised:
            spvlink.link([VERT, bad])
        assert raised.value.__notes__ == [f"in {where}"]


def test_a_result_says_what_was_gained() -> None:
    linked = spvlink.link([VERT, FRAG])
    (border,) = linked.interfaces
    before, after = border.components
    shown = repr(linked)
    assert shown.startswith(f"<Linked: vert->frag {before} -> {after} components, ")
    assert shown.endswith(f" -> {sum(s.instructions[1] for s in linked.stages)} instructions>")
    untouched = repr(spvlink.link([FRAG], keep_interface=["frag"]))
    assert untouched.startswith("<Linked: passed through: there is nothing to link")
    flat = spvlink.link([VERT, FRAG], keep_interface=["vert", "frag"])
    assert repr(flat) == f"<Linked: {flat.outcome}: {flat.passed_through}>"


def test_a_notebook_shows_the_picture() -> None:
    picture = spvlink.link([VERT, FRAG])._repr_html_()
    assert picture is not None and picture.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert picture.count("<") == 2, "all of the page is in the attribute"


def test_only_the_public_face_is_listed() -> None:
    names = {name for name in dir(spvlink) if not name.startswith("__")}
    assert names == set(spvlink.__all__) - {"__version__"}


PROJECT = """
import os
from pathlib import Path

import spvlink

linked = spvlink.link([Path("a.spv"), b"", memoryview(b""), "b.spv"], exact=True)
same = spvlink.link([bytearray(b"")], spec={("frag", 1): "2"}, layout=None)
data: bytes = linked.stages[0].data
why: str | None = linked.passed_through
texts: list[str] = [str(flaw) for flaw in linked.warnings]
for one in spvlink.batch([[data, data], ([data], spvlink.Options(clean=True))]):
    index: int = one.index
"""


def test_a_typed_project_sees_our_types(tmp_path: Path) -> None:
    def complaints(text: str) -> str:
        (tmp_path / "project.py").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent", "project.py"],
            cwd=tmp_path, capture_output=True, text=True,
            env=os.environ | {"MYPYPATH": str(Path(spvlink.__file__).parent.parent)},
        )  # fmt: skip
        return done.stdout

    assert complaints(PROJECT).startswith("Success")
    wrong = PROJECT + "spvlink.link(3)\nlinked.stage\nspvlink.link([b''], exakt=True)\n"
    assert "Found 3 errors" in complaints(wrong)
