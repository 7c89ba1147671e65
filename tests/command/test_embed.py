"""``spvlink link --embed``: a C compiler reads the words of every module out of what is written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from spvlink import Usage, __version__, cli
from spvlink.embed import check_names, embed, identifier
from tests.support.chains import build

ROOT = Path(__file__).resolve().parents[2]
READERS = {
    "c": '#include "a.vert.spv.h"\n#define WORDS a_vert_spv\n',
    "c-array": '#include <stdint.h>\nstatic const uint32_t WORDS[] =\n#include "a.vert.spv.inc"\n;',
}


@pytest.mark.parametrize("form", sorted(READERS))
def test_a_c_compiler_reads_the_module(form: str, tmp_path: Path) -> None:
    files = []
    for stage, code in zip(("vert", "frag"), build("debug_uv")):
        files.append(tmp_path / f"a.{stage}.spv")
        files[-1].write_bytes(code)
    out = tmp_path / "out"
    assert cli.main(["link", *map(str, files), "-o", str(out), "--embed", form]) == 0
    (out / "show.c").write_text(
        f"{READERS[form]}\n#include <stdio.h>\n"
        "int main(void) { fwrite(WORDS, sizeof WORDS, 1, stdout); return 0; }\n"
    )
    subprocess.run(["cc", "-Wall", "-Werror", "show.c", "-o", "show"], cwd=out, check=True)
    shown = subprocess.run([out / "show"], capture_output=True, check=True).stdout
    assert shown == (out / "a.vert.spv").read_bytes() != files[0].read_bytes()
    suffix = {"c": ".h", "c-array": ".inc"}[form]
    assert sorted(p.name for p in out.glob("a.*")) == [
        "a.frag.spv", f"a.frag.spv{suffix}", "a.vert.spv", f"a.vert.spv{suffix}",
    ]  # fmt: skip


def test_names_are_identifiers_and_differ() -> None:
    assert identifier("3d-water.vert.spv") == "_3d_water_vert_spv"
    assert b"_3d_water_vert_spv[2] = {\n0x07230203, 0x00010000\n};" in embed(
        "c", "3d-water.vert.spv", bytes.fromhex("0302230700000100")
    )
    check_names(["a.vert.spv", "a.frag.spv"])
    with pytest.raises(Usage, match=r"a-b\.spv and a_b\.spv would both be called a_b_spv"):
        check_names(["a-b.spv", "a_b.spv"])


def test_an_unknown_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["link", "a.vert.spv", "-o", "out", "--embed", "rust"]) == 2
    assert capsys.readouterr().err == "spvlink: error: --embed rust: there are c, c-array\n"


def test_the_cmake_package_has_our_version() -> None:
    text = (ROOT / "spvlink" / "cmake" / "spvlinkConfigVersion.cmake").read_text()
    assert text.startswith(f"set(PACKAGE_VERSION {__version__})\n")
