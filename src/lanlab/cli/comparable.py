"""The two sides of `lanlab compare`, read from a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.errors import UsageError

if TYPE_CHECKING:
    from lanlab.analysis.comparison_sides import Side
    from lanlab.report.comparison.compared import RunComparison
    from lanlab.store import RunRecord, Store


def sides_of_series(runs: Sequence[RunRecord], store: Store) -> list[Side]:
    from lanlab.analysis.alternation import LETTERS, place_of
    from lanlab.analysis.comparison_sides import Side

    places = [place_of(run) for run in runs]
    sides = []
    for number, what in enumerate(places[0].sides if places[0] is not None else ()):
        own = [
            (run, store.trials(run.id))
            for run, place in zip(runs, places, strict=True)
            if place is not None and place.side == number
        ]
        if own:
            sides.append(Side(LETTERS[number], tuple(own), what))
    if len(sides) < 2:
        raise UsageError(
            f"series {places[0].series if places[0] is not None else ''} has runs of one side only",
            hint="continue it with `lanlab run --resume`",
        )
    return sides


def compare_series(
    runs: Sequence[RunRecord],
    store: Store,
    metrics: list[str] | None = None,
    margin_ratio: float | None = None,
    base: str | None = None,
) -> RunComparison:
    """The sides of a series, each compared with side A or with the given side."""
    from lanlab.report.comparison.compared import between_sides
    from lanlab.report.runs.stored import others_in

    sides = sides_of_series(runs, store)
    names = [side.name for side in sides]
    if base is not None and base not in names:
        raise UsageError(f"--base: found `{base}`; allowed: {', '.join(names)}")
    others = () if len(runs) > 2 else others_in(store, runs)
    place = 0 if base is None else names.index(base)
    return between_sides(sides, metrics, margin_ratio, others, place)


def named_side(name: str, given: str, store: Store) -> Side:
    """The runs of `--before R1,R2` or `--after R3,R4`."""
    from lanlab.analysis.comparison_sides import Side

    names = [one.strip() for one in given.split(",")]
    if not all(names):
        raise UsageError(
            f"--{name}: found `{given}`; allowed: run ids separated by commas",
            hint="`lanlab runs` lists the runs in the store",
        )
    runs = [store.run(one) for one in names]
    return Side(name, tuple((run, store.trials(run.id)) for run in runs))
