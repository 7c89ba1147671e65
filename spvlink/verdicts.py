"""The verdict on modules that are about to go out, the same for one pipeline, a set and a frozen
interface.

    spirv-val accepts the new module                         it goes out
    it refuses the new one, and accepts the original         a defect of spvlink
    it refuses both, for debug information only              judged without that
    it refuses both, since it is older than the module       our own verifier judges the new one
    it refuses both, for any other reason                    the input is not valid
"""

from __future__ import annotations

from spvlink import patches, validate
from spvlink.binary.decode import decode
from spvlink.entry import select_entry, without_debug
from spvlink.errors import BadSpirv, Broken
from spvlink.grammar import enums
from spvlink.link.check import interface
from spvlink.pipeline import VALIDATED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    from spvlink.link.border.stage import Stage
    from spvlink.options import Options

SWITCHED_OFF: Final = "not validated: switched off"
# What faces no other stage: its Locations are numbers of attributes and attachments.
_OUTER: Final = (("vert", enums.StorageClass_Input), ("frag", enums.StorageClass_Output))


class Judge:
    """``stages``: with their sources as they came; ``overlaps``: their Patch variables use
    Locations of others, which older validators refuse."""

    __slots__ = ("env", "overlaps", "stages")

    def __init__(self, stages: Sequence[Stage], env: str, overlaps: bool = False) -> None:
        self.stages = stages
        self.env = env
        self.overlaps = overlaps

    def verdict(self, outputs: Sequence[bytes], options: Options) -> str:
        """The word on the new modules, one a stage, for ``Linked.validated``. Raises Broken where
        one is refused and its original is not; BadSpirv for an original that is not valid."""
        if not options.validate:
            return SWITCHED_OFF
        verdicts = self._ask(outputs)
        if not any(verdicts):
            return VALIDATED
        originals, word = self.originals()
        for stage, data, verdict, original in zip(self.stages, outputs, verdicts, originals):
            judge = "spirv-val"
            if verdict is not None and original is not None:
                if validate.about_debug(original):  # the rest must be in order all the same
                    verdict = validate.validate(without_debug(self._judged(stage, data)), self.env)
                else:
                    judge, verdict = "our verifier", _own_verdict(data)
            if verdict is not None:
                raise Broken(f"{judge} refuses the new {stage.name} module: {verdict}")
        return word

    def originals(self) -> tuple[list[str | None], str]:
        """spirv-val's verdict on each input, and the word on all of them. Raises BadSpirv where it
        refuses one and is not just too old for it."""
        word = VALIDATED
        unknown = False  # whether some stage is not validated at all
        verdicts = self._ask([stage.source.data for stage in self.stages])
        for stage, verdict in zip(self.stages, verdicts):
            if verdict is None:
                continue
            bare: str | None = verdict
            if validate.about_debug(verdict):  # no device looks at it
                data = without_debug(self._judged(stage, stage.source.data))
                bare = validate.validate(data, self.env)
            if bare is None:
                how = "validated without debug information"
            elif validate.too_old(bare):
                how, verdict, unknown = "not validated", bare, True
            else:
                raise stage.bad(f"spirv-val refuses it: {bare}")
            if bare is not None or not unknown:
                word = f"{how}: spirv-val refuses the input too ({verdict})"
        return verdicts, word

    def blame(self, error: Exception) -> str:
        """An exception that no input should cause: if an input is bad after all, raise BadSpirv;
        else it is a defect of ours, and this is its text."""
        from spvlink.ir.check import check

        for stage in self.stages:
            try:
                check(decode(stage.source.data), input=True)
            except BadSpirv as bad:
                bad.file = stage.source.file
                raise bad from None
        self._check_interfaces()
        return str(error) if isinstance(error, Broken) else f"{type(error).__name__}: {error}"

    def _check_interfaces(self) -> None:
        """Whether the inputs' own interfaces are in order, by the same checker. Raises BadSpirv."""
        for stage in self.stages:
            module = decode(stage.source.data)
            module.entry = select_entry(module, stage.source.entry, stage.name)
            for storage in (enums.StorageClass_Input, enums.StorageClass_Output):
                if (stage.name, storage) not in _OUTER:
                    try:
                        variables = interface.declared(module, storage)
                        if stage.name == "frag":
                            interface.check_fragment(variables)
                    except Broken as error:
                        raise stage.bad(error.message) from None

    def _ask(self, modules: Sequence[bytes]) -> list[str | None]:
        judged = [self._judged(stage, data) for stage, data in zip(self.stages, modules)]
        return validate.validate_all(judged, self.env)

    def _judged(self, stage: Stage, data: bytes) -> bytes:
        """A module as spirv-val is to see it."""
        return patches.judged(stage.name, data, stage.source.entry) if self.overlaps else data


def _own_verdict(data: bytes) -> str | None:
    """What our own verifier refuses in a module; None: nothing."""
    from spvlink.ir.check import check

    try:
        check(decode(data), input=True)
    except (BadSpirv, Broken) as error:
        return str(error)
    return None
