"""The effect of bimodal trials on a comparison, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.comparison import Compared
from lanlab.figures.number_text import number

#: With fewer trials, a whole side can be in one mode unnoticed.
_FEW = 10


def mode_sentences(found: Sequence[Compared]) -> list[str]:
    """A warning if the trials have two modes. For a claimed difference from too few trials to
    detect modes, a warning that modes may explain it.
    """
    said = []
    seen = {one.metric: one.modes for one in found if one.modes is not None}
    for modes in seen.values():
        share = number(100 * (1 - 1 / modes.ratio), 2)
        text = (
            f"The trials come in two modes: {modes.apart} of {modes.trials} are about {share} % "
            "away from the others of their condition, with none in between"
        )
        doubtful = sum(one.may_be_modes for one in found if one.modes is modes)
        if doubtful:
            text += (
                f". A difference no greater than that ({doubtful} here) may mean that one side had "
                "more trials in the slow mode, so neither side is called better"
            )
        said.append(f"{text}.")
    few = [
        one
        for one in found
        if one.differs
        and one.modes is None
        and one.scale == "log"
        and min(one.base.n, one.other.n) < _FEW
    ]
    if few:
        first = min(few, key=lambda one: min(one.base.n, one.other.n))
        least, unit = min(first.base.n, first.other.n), first.unit
        advice = (
            f"Measure {_FEW} {unit}s of each to see that"
            if first.basis in ("levels", "turns")
            else "Alternate the sides and run again"
        )
        said.append(
            f"With {least} {unit}s a side two modes cannot be seen: a machine that is slow for "
            f"some {unit}s can look like a difference. {advice}."
        )
    return said
