"""setuptools, with mypyc where the core is to be compiled (docs/measurements/speed.md): with
SPVLINK_COMPILE=1, or ``pip wheel . --config-settings compile=1``. Pure Python needs no mypy."""

from __future__ import annotations

import os

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

Settings = dict[str, str] | None
MYPYC = ["mypy>=2.1"]


def compiles(settings: Settings) -> bool:
    """Whether to compile; setup.py reads the answer from the environment."""
    if (settings or {}).get("compile") == "1":
        os.environ["SPVLINK_COMPILE"] = "1"
    return os.environ.get("SPVLINK_COMPILE") == "1"


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return MYPYC if compiles(config_settings) else []


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    compiles(config_settings)
    made: str = build_meta.build_wheel(wheel_directory, None, metadata_directory)
    return made


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    os.environ["SPVLINK_COMPILE"] = "0"  # a checkout runs pure Python
    return []


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    os.environ["SPVLINK_COMPILE"] = "0"
    made: str = build_meta.build_editable(wheel_directory, None, metadata_directory)
    return made


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    os.environ["SPVLINK_COMPILE"] = "0"
    return []


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    os.environ["SPVLINK_COMPILE"] = "0"
    made: str = build_meta.build_sdist(sdist_directory)
    return made
