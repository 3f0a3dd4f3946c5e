"""One metric of an experiment: measured values, the link's limit, and published values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lanlab.analysis.published.values import PublishedPoint, points_for
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import Summary
from lanlab.figures.gather import called
from lanlab.figures.number_text import number, percent
from lanlab.figures.wording import Quantity, as_printed, obtained, quantity, values_text
from lanlab.report.document.table import EMPTY, Cell, Column, Table, cell
from lanlab.report.metrics.order_text import ABOVE, HOW_ENDED, is_above
from lanlab.studies.model import Study

DISTURBED = "\N{DAGGER}"
_EXACT = ("mean", "95 % low", "95 % high", "standard deviation", "limit")


def metric_table(data: RunData, experiment: str, metric: str) -> Table:
    summaries = data.summaries(experiment, metric)
    shown, si = quantity(data.study, metric), quantity(None, metric)
    factors = summaries[0].factors if summaries else {}
    points = [points_for(summary, data.published) for summary in summaries]
    # Values as people read them. In CSV, the unit does not depend on the values.
    together = [summary.mean for summary in summaries]
    together += [point.value.si for row in points for point in row]
    read, usual = shown.readable(together), si.readable(together)
    series = sorted({(p.series, p.value.statistic) for row in points for p in row})
    about = [f"published {statistic}, {name or 'the study'}" for name, statistic in series]
    unit, inner = shown.unit or "1", si.si_unit or "1"
    # The precision goal refers to the first metric of an experiment.
    ended = [e for e in data.endings if (e.experiment, e.metric) == (experiment, metric)]
    is_mixed = len({one.how for one in ended}) > 1
    by, in_unit = obtained(data.study), f" ({read.unit})" if read.unit else ""
    # An interval over a model's seeds excludes its uncertainty.
    interval = "95 % over seeds" if data.study.is_simulated else "95 % interval"
    of = f", {interval}" if data.study.is_simulated else ""
    columns = [
        *(
            Column(key, quantity(data.study, key).name, is_number=not isinstance(level, str))
            for key, level in factors.items()
        ),
        Column("", "", "condition", is_number=False),
        # The mean comes first, because phones show few columns.
        Column("", f"mean, {interval}{in_unit}", f"{read.name}{in_unit}{of}"),
        Column("n", "n"),
        # The terminal shows this column only if values are missing.
        Column("", "", "n", rank=2),
        Column("failed", "failed"),
        Column("missing", "missing"),
        Column("polluted", f"disturbed {DISTURBED}"),
        Column("left out", "left out"),
        Column(f"mean ({unit})"),
        Column(f"95 % low ({unit})"),
        Column(f"95 % high ({unit})"),
        Column(f"standard deviation ({unit})", f"SD{in_unit}"),
        Column(f"limit ({unit})", f"limit{in_unit}"),
        Column("share of limit (ratio)", "of limit", "of limit", rank=4),
        Column("", "published", is_number=False),
        Column("", f"{by} / published", is_number=False),
        Column("", "", "published", is_number=False),
        Column("", "", "ours / theirs", is_number=False),
        *(Column(text) for one in about for text in (f"{one} ({unit})", f"{by} / {one} (ratio)")),
        Column("", f"mean ({usual.unit})" if si.unit != shown.unit else ""),
        *(Column(f"{name} ({inner})" if inner != unit else "") for name in _EXACT),
        # The page has this column only if conditions differ, otherwise a sentence above the tables.
        *([Column("ended", "ended" if is_mixed else "", is_number=False)] if ended else []),
    ]
    is_lacking = any(summary.missing for summary in summaries)
    said, rows = partial(called, data.study, data.published), []
    for place, (summary, own) in enumerate(zip(summaries, points, strict=True)):
        exact = summary.mean, summary.ci_low, summary.ci_high, summary.sd, summary.limit
        counts = summary.failed, summary.missing, summary.disturbed, summary.left_out
        ratios = Cell(None, "\n".join(_ratio_text(summary, point) for point in _means(own)))
        rows.append(
            (
                *(Cell(level, said({factor: level})) for factor, level in summary.factors.items()),
                Cell(None, said(summary.factors)),
                Cell(None, _mean_text(read, summary, data.study)),
                Cell(summary.n, summary.n_text),
                Cell(None, summary.n_text if is_lacking else ""),
                *(Cell(count, str(count or "")) for count in counts),
                *map(partial(_shown, shown, read), exact, (4, 4, 4, 2, 4)),
                _share(summary),
                Cell(None, "\n".join(_published_lines(own))),
                ratios,
                Cell(None, "\n".join(map(_published_text, _means(own)))),
                ratios,
                *(cell for key in series for cell in _published_cells(shown, summary, own, key)),
                Cell(None, _mean_text(usual, summary, data.study)),
                *map(cell, exact),
                *(Cell(e.how, HOW_ENDED[e.how]) for e in ended[place : place + 1]),
            )
        )
    title = shown.name[0].upper() + shown.name[1:]
    return Table(f"{experiment}-{metric}", title, tuple(columns), tuple(rows))


def _share(summary: Summary) -> Cell:
    if summary.mean is None or not summary.limit:
        return EMPTY
    share = summary.mean / summary.limit
    return Cell(share, f"{percent(share)} {ABOVE}" if is_above(summary) else percent(share))


def _shown(shown: Quantity, read: Quantity, value: float | None, digits: int) -> Cell:
    return EMPTY if value is None else Cell(shown.shown(value), number(read.shown(value), digits))


def _mean_text(shown: Quantity, summary: Summary, study: Study) -> str:
    if summary.mean is None:
        return "none"
    is_known = summary.ci_low is not None
    mean = shown.mean_text(summary, study, over_seeds=True)
    text = mean if is_known else values_text(shown, summary.values)
    return f"{text} {DISTURBED}" if summary.disturbed else text


def _published_lines(points: Sequence[PublishedPoint]) -> list[str]:
    lines: dict[str, list[str]] = {}
    for point in sorted(points, key=lambda point: point.value.statistic):
        lines.setdefault(point.series, []).append(_published_text(point, named=False))
    return [
        f"{name}: {', '.join(said)}" if name else ", ".join(said)
        for name, said in sorted(lines.items())
    ]


def _means(points: Sequence[PublishedPoint]) -> list[PublishedPoint]:
    means = (point for point in points if point.value.statistic == "mean")
    return sorted(means, key=lambda point: point.series)


def _ratio(summary: Summary, point: PublishedPoint) -> float | None:
    ours = summary.sd if point.value.statistic == "sd" else summary.mean
    return ours / point.value.si if ours is not None and point.value.si else None


def _published_text(point: PublishedPoint, *, named: bool = True) -> str:
    value = point.value
    name = f"{point.series}: " if point.series and named else ""
    kind = "SD " if value.statistic == "sd" else ""
    return f"{name}{kind}{as_printed(value)}"


def _ratio_text(summary: Summary, point: PublishedPoint) -> str:
    ratio = _ratio(summary, point)
    name = f"{point.series}: " if point.series else ""
    return "" if ratio is None else f"{name}{number(ratio, 3)}"


def _published_cells(
    shown: Quantity, summary: Summary, points: Sequence[PublishedPoint], key: tuple[str, str]
) -> tuple[Cell, Cell]:
    for point in points:
        if (point.series, point.value.statistic) == key:
            ratio = _ratio(summary, point)
            return Cell(shown.shown(point.value.si), ""), Cell(ratio, "")
    return EMPTY, EMPTY
