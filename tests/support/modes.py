"""Puts an execution mode into a module."""

from __future__ import annotations

from tests.support.samples import edited


def with_mode(code: bytes, *modes: str) -> bytes:
    """A module with more execution modes, and the capabilities that they ask for."""
    capability = {
        "DenormFlushToZero": "DenormFlushToZero",
        "RoundingModeRTZ": "RoundingModeRTZ",
        "SignedZeroInfNanPreserve": "SignedZeroInfNanPreserve",
    }
    asked = "".join(f"OpCapability {capability[m.split()[0]]}\n" for m in modes)
    said = "".join(f"OpExecutionMode %main {m}\n" for m in modes)
    asked += 'OpExtension "SPV_KHR_float_controls"\n'
    return edited(
        code,
        (r"(.*OpExtInstImport)", asked + r"\1"),
        (r"(OpEntryPoint .*\n)", r"\1" + said),
    )
