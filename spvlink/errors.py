"""The ways to fail, and how an error gathers its context on the way up.

``BadSpirv``: the input is not what the specification says (exit status 1). ``Refused``: legal, but
beyond us; the pipeline is passed through unchanged and the report says why. ``Broken``: a defect of
spvlink itself (exit status 3, with the inputs passed through). ``Usage``: the command was called
wrongly (exit status 2). ``BadArchive``: a file or an entry of an archive is not what it should be
(exit status 1 for a file; an entry costs its pipelines only). ``Worse``: everything is done, and
something is worse than in the report of ``--compare`` (exit status 4).

Raise at the deepest place, with the fact; every layer on the way may add one line with ``while_``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable


class SpvlinkError(Exception):
    """Base of all errors; ``message`` is one line, ``context`` says while doing what, innermost
    first."""

    def __init__(
        self, message: str, word: int | None = None, instruction: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = " ".join(message.split())
        self.word = word
        self.instruction = instruction
        self.file: str | None = None
        self.context: list[str] = []

    def while_(self, doing: str) -> SpvlinkError:
        """Add a line of context and return the same error, to be re-raised."""
        self.context.append(doing)
        return self

    @property
    def place(self) -> str:
        """``(at word N, instruction N)`` or an empty string. Both count from 0; word 0 is the magic
        number."""
        if self.word is None:
            return ""
        if self.instruction is None:
            return f" (at word {self.word})"
        return f" (at word {self.word}, instruction {self.instruction})"

    def __str__(self) -> str:
        return f"{self.message}{self.place}"


class BadSpirv(SpvlinkError):
    """The input is not valid SPIR-V, or the modules do not fit together as one pipeline."""


class Refused(SpvlinkError):
    """Legal input that spvlink does not know how to improve safely."""


class Broken(SpvlinkError):
    """An internal invariant does not hold: a defect of spvlink."""


class Usage(SpvlinkError):
    """The caller asked for something that makes no sense."""


class Worse(SpvlinkError):
    """Something got worse than it was in an earlier build."""


class BadArchive(SpvlinkError):
    """A file is no Fossilize archive, or an entry of one cannot be used."""


def meant(word: str, known: Iterable[str]) -> str:
    """`` (did you mean WORD?)`` or an empty string."""
    from difflib import get_close_matches

    like = get_close_matches(word, list(known), 1, 0.75)
    return f" (did you mean {like[0]}?)" if like else ""
