"""The range of a metric over each of several crossed factors, at each condition of the others."""

from __future__ import annotations

from lanlab.figures.chart import Axis, Chart, Point, Series
from lanlab.figures.gather import FigureData
from lanlab.figures.wording import name_of, quantity

_SAID = (
    "The greatest level of a factor over its least, with all other factors held: the geometric "
    "mean over the levels of the others, and as ends the least and the greatest. Where it is 1, "
    "the factor changes nothing."
)


def factor_effects_forest(data: FigureData) -> Chart:
    """A row for each condition of the other factors, a series for each crossed factor."""
    from lanlab.analysis.factor_effects import factor_effects

    found = factor_effects(data.run, data.trials, data.study)
    cases = () if found is None else found.cases
    rows = [data.called(case.at) or "all" for case in cases]
    points: dict[str, list[Point]] = {} if found is None else {name: [] for name in found.factors}
    for place, case in enumerate(cases):
        for one in case.spreads:
            points[one.factor].append(
                Point(
                    x=float(place),
                    y=one.ratio,
                    low=one.least,
                    high=one.greatest,
                    condition=f"{rows[place]}, {name_of(one.factor)}",
                )
            )
    shown = quantity(data.study, found.metric) if found else None
    return data.chart(
        Axis("condition", "", categories=tuple(rows)),
        Axis(f"greatest / least {shown.name if shown else 'value'}", "", logarithmic=True),
        [Series(name_of(name), tuple(own), "points") for name, own in points.items()],
        _SAID,
        drawn="",
        interval="least and greatest",
        sideways=True,
    )
