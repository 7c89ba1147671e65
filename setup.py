"""Builds spvlink: pure Python, or, with SPVLINK_COMPILE=1, its core compiled by mypyc.

Compiled is what runs for every pipeline, and what that imports. Left out: tables (as C they would
be a hundred megabytes), what runs once a process, and what only people ask for. Of the grammar the
modules of plain numbers and the facts are compiled: mypyc puts numbers in where they are used, but
the modules are imported all the same, and compiled that takes half the time; and it finds a table
of a compiled module without asking the module's dict.

SPVLINK_PROFILE=FOLDER, with gcc, compiles twice: what is made first counts which ways its code
goes while it links the pipelines of FOLDER (scripts/train), and with these counts everything is
compiled once more, over all files: what runs lies together, what never ran is small. It saves 15 %
of a link.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext

FOLDERS = ("archive", "binary", "chain", "facts", "ir", "link", "passes", "rules", "sets")
ALONE = (
    "digest_table.py", "driver.py", "entry.py", "errors.py", "layout.py", "patches.py",
    "pipeline.py", "spawn.py", "state_use.py", "validate.py", "varying_bytes.py", "verdicts.py",
)  # fmt: skip
NUMBERS = ("debug.py", "enums.py", "glsl.py", "info.py", "ops.py")  # of spvlink/grammar
LEFT_OUT = ("__init__.py", "check.py")  # of spvlink/ir


def compiled() -> list[str]:
    root = Path("spvlink")
    found = [root / name for name in ALONE] + [root / "grammar" / name for name in NUMBERS]
    for folder in FOLDERS:
        found += sorted(p for p in (root / folder).rglob("*.py") if p.name not in LEFT_OUT)
    return [str(path) for path in found]


# Nothing outside the library calls its functions.
HIDDEN = ["-fvisibility=hidden", "-fno-semantic-interposition", "-fno-stack-protector", "-g0"]
COUNTING = ["-fprofile-generate", "-fprofile-update=single"]
COUNTED = ["-fprofile-use", "-flto=auto", "-Wno-missing-profile"]


class Build(build_ext):
    """Compiles the C files of an extension side by side, where setuptools does one after the other;
    with a profile if one is asked for."""

    def build_extensions(self) -> None:
        training = os.environ.get("SPVLINK_PROFILE")
        if not training:
            super().build_extensions()
            return
        self.build_with(COUNTING)
        path = {**os.environ, "PYTHONPATH": str(Path(self.build_lib).absolute())}
        subprocess.run([sys.executable, "-P", "scripts/train", training], env=path, check=True)
        self.force = True  # the sources are no newer, but how they are compiled is
        self.build_with(COUNTED)

    def build_with(self, flags: list[str]) -> None:
        plain = [(e, e.extra_compile_args, e.extra_link_args) for e in self.extensions]
        for extension, compiling, linking in plain:
            extension.extra_compile_args = [*compiling, *HIDDEN, *flags]
            extension.extra_link_args = [*linking, *HIDDEN, *flags]
        super().build_extensions()
        for extension, compiling, linking in plain:
            extension.extra_compile_args, extension.extra_link_args = compiling, linking

    def build_extension(self, extension):  # type: ignore[no-untyped-def]
        compile_all = self.compiler.compile

        def compile(sources, **options):  # type: ignore[no-untyped-def]
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                made = pool.map(lambda source: compile_all([source], **options), sources)
                return [name for names in made for name in names]

        self.compiler.compile = compile
        try:
            super().build_extension(extension)
        finally:
            self.compiler.compile = compile_all


extensions = []
if os.environ.get("SPVLINK_COMPILE") == "1":
    from mypyc.build import mypycify

    extensions = mypycify(compiled(), opt_level="2", debug_level="0", multi_file=True)
setup(
    ext_modules=extensions,
    cmdclass={"build_ext": Build},
    data_files=[("share/man/man1", ["docs/spvlink.1"])],
)
