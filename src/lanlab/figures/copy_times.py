"""The rate or time of every trial of a copy, next to the published trials."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.published import amount_of, is_own
from lanlab.analysis.summary import Summary
from lanlab.figures.chart import Axis, Chart, PublishedMark, PublishedSeries
from lanlab.figures.gather import FigureData, in_order, printed
from lanlab.figures.wording import condition_text, level_text, obtained, quantity
from lanlab.store import Level
from lanlab.studies import Published, PublishedValue, Study
from lanlab.studies.counterparts import in_published_words, stands_for_something
from lanlab.studies.model import Figure

_DRAWN = "Points are means with 95 % intervals, rings below them single trials."


def copy_times(data: FigureData) -> Chart:
    """
    The figure's `metric`, by default the rate, as rows: first each condition, with its datasets
    side by side, then the published conditions. These have a mark for each trial, or for the mean
    if the study published no trials.
    """
    metric = data.figure.metric or "goodput_bps"
    y = quantity(data.study, metric)
    found = data.drawn(metric)
    found = [summary for summary in found if summary.mean is not None]
    levels = (s.factors["dataset"] for s in found if "dataset" in s.factors)
    place_of = {level: place for place, level in enumerate(in_order(dict.fromkeys(levels)))}
    found.sort(key=lambda s: place_of.get(s.factors.get("dataset", ""), -1))
    several = len({summary.experiment for summary in found}) > 1
    rows: dict[str, int] = {}
    place: dict[int, float] = {}
    series: dict[str, list[Summary]] = {}
    for summary in found:
        rest = {k: v for k, v in summary.factors.items() if k != _inside(summary)}
        words = [data.titles[summary.experiment] if several else "", data.called(rest)]
        name = ", ".join(filter(None, words)) or _what(data.study, summary)
        place[id(summary)] = float(rows.setdefault(name, len(rows)))
        series.setdefault(_dataset(data.study, data.published, summary), []).append(summary)
    marks = _published(data.study, data.published, data.figure, metric, rows)
    text = ""
    if marks and data.study.waiting:
        known = ", ".join(_stands_for(data.study, data.published))
        but = f" but for {known}" if known else ""
        text = f"What was published is not yet runnable here{but}; amounts are those of the study."
    if metric == "elapsed_ns" and (marks or len(series) > 1):
        text = f"{text} Times of different amounts do not compare; rates do.".lstrip()
    return data.chart(
        Axis("", "", categories=tuple(rows)),
        metric,
        data.lines(series, lambda s: place[id(s)], y, "points"),
        text,
        drawn=_DRAWN,
        published=tuple(
            PublishedSeries(
                name,
                tuple(PublishedMark(row, y.shown(value.si), _text(value)) for row, value in own),
            )
            for name, own in marks.items()
        ),
        sideways=True,
    )


def _what(study: Study, summary: Summary) -> str:
    keys = [key for key in ("service", "dataset") if key in summary.parameters]
    keys = [key for key in keys if key not in summary.factors]
    return (
        condition_text(study, {key: summary.parameters[key] for key in keys})
        or obtained(study).word
    )


def _inside(summary: Summary) -> str:
    return "dataset" if "dataset" in summary.factors else next(reversed(summary.factors), "")


def _dataset(study: Study, published: Published, summary: Summary) -> str:
    factor = _inside(summary)
    if factor not in summary.factors:
        return "measured"
    level = {factor: summary.factors[factor]}
    here = condition_text(study, level)
    for one in study.counterpart:
        if one.factor == factor and one.levels:
            for words in in_published_words(study, summary.experiment, level):
                own = words.get(one.published)
                if own is None or own == summary.factors[factor]:
                    continue
                if not any(known.name == one.published for known in published.factor):
                    # The publication has no such factor, so use the same text for all experiments.
                    return condition_text(study, {one.published: own})
                return f"{here}, for {_short_title(published, one.published, own)}"
    return here


def _published(
    study: Study, published: Published, figure: Figure, metric: str, rows: dict[str, int]
) -> dict[str, list[tuple[float, PublishedValue]]]:
    """Marks by their subject, each with its row; new rows are appended.

    Rows are systems, and published levels without our counterpart. Levels with a counterpart are
    different kinds of marks.
    """
    if not study.counterpart:
        return {}
    own = [
        value
        for value in (*published.value, *_rates_of_trials(published))
        if value.metric == metric
        and is_own(value)
        and value.experiment in (None, *figure.experiments)
        and value.statistic in ("trial", "mean")
    ]
    has_trials = any(value.statistic == "trial" for value in own)
    wanted = "trial" if has_trials else "mean"
    known = [factor.name for factor in published.factor if factor.name != "trial"]
    in_rows = {one.published for one in study.counterpart if one.factor == "service"}
    kinds = [name for name in known if stands_for_something(study, name) and name not in in_rows]
    # Put the protocol before the system.
    others = [name for name in known if name not in kinds]
    others.sort(key=lambda name: not any(one.published == name for one in study.counterpart))
    found: dict[str, list[tuple[float, PublishedValue]]] = {}
    for value in own:
        if value.statistic != wanted:
            continue
        row = "published: " + _words(published, others, value)
        name = _words(published, kinds, value)
        found.setdefault(name, []).append((float(rows.setdefault(row, len(rows))), value))
    return found


def _stands_for(study: Study, published: Published) -> list[str]:
    """Published levels that correspond to a service of ours, as `TCP/IP (SMB 1)`."""
    return [
        f"{_short_title(published, one.published, level)} ({level_text(study, 'service', own)})"
        for one in study.counterpart
        if one.factor == "service"
        for level, owns in one.levels.items()
        for own in owns
    ]


def _rates_of_trials(published: Published) -> list[PublishedValue]:
    trials = [value for value in published.value if value.statistic == "trial"]
    if any(value.metric == "goodput_bps" for value in trials):
        return []
    found = []
    for value in trials:
        amount = amount_of(published, value.condition)
        if value.metric == "elapsed_ns" and amount is not None:
            rate = {"metric": "goodput_bps", "si": 8e9 * amount / value.si, "si_unit": "bit/s"}
            found.append(value.model_copy(update=rate))
    return found


def _text(value: PublishedValue) -> str:
    return (
        printed(value)
        if value.metric != "goodput_bps" or value.statistic != "trial"
        else (f"{printed(value)}, in {value.unit}")
    )


def _words(published: Published, factors: Sequence[str], value: PublishedValue) -> str:
    levels = [(name, value.condition[name]) for name in factors if name in value.condition]
    return ", ".join(_short_title(published, name, level) for name, level in levels)


def _short_title(published: Published, factor: str, level: Level) -> str:
    named = published.named_level(factor, level)
    return str(level) if named is None else named.title.partition(" (")[0]
