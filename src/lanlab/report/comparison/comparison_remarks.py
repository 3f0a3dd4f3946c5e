"""Caveats about compared runs: how they were measured, and their state."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.comparison.compare import Compared
from lanlab.analysis.comparison.run_spread import LEAST_DF, SPAN, Others
from lanlab.analysis.comparison.runs import Paired
from lanlab.analysis.comparison.sides import Side
from lanlab.figures.number_text import counted, number

#: For more runs, the text gives their number and names only the first and last.
_MOST_NAMED = 12
_IN_TURNS = "alternate several runs of each: `lanlab run STUDY … --alternate 5`"


def remarks(
    paired: Paired, found: Sequence[Compared], sides: Sequence[Side], facts: int
) -> list[str]:
    """How the runs were compared, and which conditions could not be."""
    said = [f"{side.name} is {side.what}." for side in sides if side.what]
    if paired.unlike:
        side = "run" if _are_single(sides) else "side"
        conditions = f"{counted(len(paired.unlike), 'condition')} of unlike kind"
        said.append(f"{conditions}, or of one {side} alone, were not compared: see the table.")
    for key, pair in paired.settings.items():
        said.append(f"The sides differ in {key}: {_values(pair)}.")
    for key, pair in paired.amounts.items():
        said.append(
            f"The runs measured unlike amounts ({key}: {_values(pair)}): what builds up within a "
            "trial, such as a queue, weighs differently."
        )
    if paired.searches:
        said.append(f"Searches are not compared: {', '.join(paired.searches)}.")
    bases = {one.basis for one in found if not one.is_simulated}
    if "turns" in bases:
        turns = max((one.base.n for one in found if one.basis == "turns"), default=0)
        said.append(
            f"The runs were taken in {turns} turns, in random order: each run is one value, and "
            "sides are compared turn by turn."
        )
    if "mixed" in bases:
        said.append(
            "Runs of the sides took turns, though not in random order: each run is one value."
        )
    if bases & {"known spread", "after", "single"}:
        said += _of_time(paired, found, sides, facts)
    return said


def _of_time(
    paired: Paired, found: Sequence[Compared], sides: Sequence[Side], facts: int
) -> list[str]:
    which = f"{facts} fact{'s differ' if facts != 1 else ' differs'}, see the table; "
    said = [
        f"The runs were measured one after another: {which if facts else ''}any change between "
        "them may be the reason for a difference."
    ]
    used = {id(one): one for one in paired.yardsticks if one.groups}
    if any(one.basis == "known spread" for one in found):
        said += [_yardstick(one) for one in used.values()]
    if any(one.basis in ("single", "after") for one in found):
        what = "One run of each" if _are_single(sides) else "Runs that do not alternate"
        offered = max((one.offered for one in paired.yardsticks), default=0)
        why = ", and no other runs of this study here show how much runs vary"
        if offered:
            runs = f"the {offered} other runs" if offered > 1 else "the one other run"
            do = "do" if offered > 1 else "does"
            needed = f"{LEAST_DF + 1} of one setting, over {SPAN} times the time between"
            why = f", and {runs} of this study here {do} not show how much runs vary: that takes "
            why += f"{needed} the compared runs"
        said.append(
            f"{what} cannot show whether a setting or the run itself is the reason{why}; "
            f"{_IN_TURNS}."
        )
    return said


def _yardstick(others: Others) -> str:
    ids = [run.id for run, _ in others.runs]
    named = ", ".join(ids if len(ids) <= _MOST_NAMED else [*ids[:2], "…", ids[-1]])
    return (
        f"The intervals include how much runs vary, taken from {len(ids)} other runs of this study "
        f"on this testbed and machine: {named}."
    )


def _are_single(sides: Sequence[Side]) -> bool:
    return all(len(side.runs) == 1 for side in sides)


def _values(pair: Sequence[object]) -> str:
    return " and ".join("not set" if one is None else str(one) for one in pair)


def run_state(sides: Sequence[Side]) -> list[str]:
    said = []
    for side in sides:
        trials = [trial for _, trials in side.runs for trial in trials]
        of = f" of {len(side.runs)} runs" if len(side.runs) > 1 else ""
        for run, _ in side.runs:
            if run.status != "done":
                name = f"{side.name} ({run.id})" if of else side.name
                said.append(f"{name} is {run.status}: only the trials that had ended are shown.")
        failed = sum(trial.status == "failed" for trial in trials)
        if failed:
            said.append(
                f"{side.name}: {failed} of {len(trials)} trials{of} failed and are in no mean."
            )
        disturbed = sum(trial.is_disturbed for trial in trials)
        if disturbed:
            said.append(
                f"{side.name}: {disturbed} of {len(trials)} trials{of} were disturbed; means with "
                "such trials are marked \N{DAGGER}."
            )
    return said


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
    claimed = [
        one
        for one in found
        if one.differs and one.modes is None and one.scale == "log" and not one.is_simulated
    ]
    first = min(claimed, key=lambda one: min(one.base.n, one.other.n), default=None)
    if first is not None and min(first.base.n, first.other.n) < _FEW:
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
