"""spirv-val over what is about to go out of a set."""

from __future__ import annotations

from spvlink import validate
from spvlink.errors import Broken
from spvlink.options import Options
from spvlink.pipeline import VALIDATED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence

    Made = tuple[str, bytes, bytes]  # a stage's name, its module as it came and as it goes


def verdict_of(modules: Sequence[Made], options: Options, env: str) -> str:
    """What to say of them (``Linked.validated``). Raises Broken where spirv-val refuses a module
    that it did not refuse before."""
    if not options.validate:
        return "not validated: switched off"
    verdict_of_all = VALIDATED
    verdicts = validate.validate_all([after for _, _, after in modules], env)
    for (name, before, _), verdict in zip(modules, verdicts):
        if verdict is None:
            continue
        original = validate.validate(before, env)
        if original is None:
            raise Broken(f"spirv-val refuses the new {name} module: {verdict}")
        verdict_of_all = f"not validated: spirv-val refuses the input too ({original})"
    return verdict_of_all
