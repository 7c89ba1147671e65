"""``python -m spvlink`` is the command ``spvlink``."""

from spvlink.cli import process

process()
