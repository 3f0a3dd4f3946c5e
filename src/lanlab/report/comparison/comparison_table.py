"""Comparisons as tables: one per metric for people, and one with all fields for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from lanlab.analysis.comparison.compare import Compared, Sample
from lanlab.analysis.comparison.facts import Differing
from lanlab.analysis.comparison.published import PublishedRatio
from lanlab.analysis.comparison.runs import Unlike
from lanlab.analysis.trials.measured_where import measured_where
from lanlab.analysis.trials.summary import interval_of_mean
from lanlab.figures.number_text import number, with_ends, with_interval
from lanlab.figures.wording import (
    Quantity,
    as_printed,
    condition_text,
    level_text,
    name_of,
    obtained,
    quantity,
    values_text,
)
from lanlab.report.comparison.comparison_text import effect_text, p_text, verdict_text
from lanlab.report.document.table import EMPTY, Cell, Column, Table, cell, words
from lanlab.report.metrics.metric_table import DISTURBED
from lanlab.report.trials.trial_table import experiment_cells
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.labels import label_facts
from lanlab.store.records import Level
from lanlab.studies.model import Study
from lanlab.workloads.metrics import metric_direction


def comparison_tables(study: Study, found: Sequence[Compared]) -> list[Table]:
    """A table for each experiment and metric, in the order of the comparisons."""
    return [_table(study, group) for group in groups_of(found)]


def groups_of(found: Sequence[Compared]) -> list[list[Compared]]:
    """The comparisons of each experiment and metric."""
    groups: dict[tuple[str, str], list[Compared]] = {}
    for one in found:
        groups.setdefault((one.experiment, one.metric), []).append(one)
    return list(groups.values())


def flat(one: Compared) -> dict[str, Level | None]:
    """All fields of one comparison by name, in SI units; missing values are `None`."""
    test, margin, further = one.test, one.margin, one.further
    low, high = one.interval or (None, None)
    base = {f"base {name}": value for name, value in _sample(one.metric, one.base).items()}
    other = {f"other {name}": value for name, value in _sample(one.metric, one.other).items()}
    found: dict[str, Level | None] = {
        "experiment": one.experiment,
        "metric": one.metric,
        "unit": quantity(None, one.metric).si_unit,
        "condition": ", ".join(f"{key}={level}" for key, level in one.factors.items()),
        "base": one.base_name,
        "other": one.other_name,
        **base,
        **other,
        "effect is": "ratio" if one.scale == "log" else "difference",
        "effect": one.effect,
        "95 % low": low,
        "95 % high": high,
        "design": None if test is None else test.design,
        "basis": one.basis,
        "unit of n": one.unit,
        "Hedges g": None if test is None else test.hedges_g,
        "degrees of freedom": None if test is None else test.df,
        "p": None if test is None else test.p_two_sided,
        "p, Holm": one.p_holm,
        "margin low": None if margin is None else margin.low,
        "margin high": None if margin is None else margin.high,
        "p equivalent, Holm": one.p_equivalent_holm,
        "verdict": one.verdict,
        "better is": metric_direction(one.metric),
        "better": one.better,
        "model error factor": one.model_factor if one.is_simulated else None,
        "further trials": None,
        "further runs": None,
        "why no interval": one.why or None,
    }
    if further is not None:
        found[f"further {one.unit}s"] = further.further_trials
    # JSON and spreadsheets cannot represent infinity.
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in found.items()
    }


def _sample(metric: str, sample: Sample) -> dict[str, Level | None]:
    interval = interval_of_mean(metric, sample.values, sample.limit)
    return {
        "n": sample.n,
        "mean": sample.mean,
        "mean 95 % low": None if interval is None else interval[0],
        "mean 95 % high": None if interval is None else interval[1],
        "failed": sample.failed,
        "missing": sample.missing,
        "polluted": sample.disturbed,
    }


def _table(study: Study, group: Sequence[Compared]) -> Table:
    first = group[0]
    shown = quantity(study, first.metric).readable(
        sample.mean for one in group for sample in (one.base, one.other)
    )
    others = list(dict.fromkeys(one.other_name for one in group))
    base = first.base_name
    sign = "/" if first.scale == "log" else "less"
    effect = f"{others[0]} {sign} {base}" if len(others) == 1 else f"{sign} {base}"
    unit = f" ({shown.unit})" if shown.unit else ""
    direction = metric_direction(first.metric)
    better = f", {direction} is better" if direction else ""
    other = f"{others[0]}{unit}" if len(others) == 1 else f"mean{unit}"

    # Not by name: a run may be called like another column.
    def both(name: str, *, is_number: bool = True, rank: int = 0) -> Column:
        return Column("", name, name, is_number=is_number, rank=rank)

    columns = (
        both("condition", is_number=False),
        both("" if len(others) == 1 else "side", is_number=False),
        both(f"{base}{unit}", rank=1),
        both(f"{first.unit}s", rank=3),
        both(other, rank=1),
        both(f"{first.unit}s ", rank=3),
        both(f"{effect}, 95 %"),
        both("p", rank=4),
        both("p, Holm", rank=2),
        both("Hedges g", rank=5),
        both("verdict", is_number=False),
    )
    rows = tuple(
        (
            words(condition_text(study, one.factors) or "all"),
            words(one.other_name),
            Cell(None, _mean(shown, one.base, one)),
            Cell(None, _count(one.base)),
            Cell(None, _mean(shown, one.other, one)),
            Cell(None, _count(one.other)),
            Cell(None, effect_text(study, one)),
            # Seeds of one model are no sample of machines.
            Cell(
                None, "" if one.is_simulated or one.test is None else p_text(one.test.p_two_sided)
            ),
            Cell(None, "" if one.is_simulated else p_text(one.p_holm)),
            EMPTY
            if one.is_simulated or one.test is None
            else cell(one.test.hedges_g, partial(number, digits=2)),
            words(verdict_text(one)),
        )
        for one in group
    )
    title = f"{study.titles.get(first.experiment, first.experiment)}: {shown.name}{better}"
    return Table(f"{first.experiment}-{first.metric}", title, columns, rows)


def _mean(shown: Quantity, sample: Sample, one: Compared) -> str:
    if sample.mean is None:
        return "none"
    if one.is_simulated:
        return number(shown.shown(sample.mean), 4)
    ends = interval_of_mean(shown.key, sample.values, sample.limit)
    if ends is None:
        text = values_text(shown, sample.values)
    else:
        text = with_interval(shown.shown(sample.mean), shown.interval(*ends))
    return f"{text} {DISTURBED}" if sample.disturbed else text


def _count(sample: Sample) -> str:
    return f"{sample.n} of {sample.n + sample.missing}" if sample.missing else str(sample.n)


_SHOWN = {"polluted": "disturbed"}
_COUNTS = ("trials", "failed", "polluted")
_RANKS = {"trials": 6, "scale": 5, "note": 4, "testbed": 3, "failed": 2, "status": 1, "polluted": 1}


def runs_table(
    names: Sequence[str], runs: Sequence[tuple[RunRecord, Sequence[TrialRecord]]], base: int
) -> Table:
    """The table of runs, with columns for names, tags and notes if a run has them."""
    labels = [dict(label_facts(run)) for run, _ in runs]
    called = [title for title in ("Name", "Tags", "Note") if any(title in one for one in labels)]
    facts = ("run", "id", "scale", "testbed", "status", *_COUNTS, *map(str.lower, called))
    columns = tuple(
        Column(
            name,
            _SHOWN.get(name, name),
            _SHOWN.get(name, name),
            is_number=name in _COUNTS,
            rank=_RANKS.get(name, 0),
        )
        for name in facts
    )
    rows = []
    for place, (name, (run, trials)) in enumerate(zip(names, runs, strict=True)):
        failed = sum(trial.status == "failed" for trial in trials)
        disturbed = sum(trial.is_disturbed for trial in trials)
        bed = " ".join(filter(None, measured_where(run)))
        rows.append(
            (
                words(f"{name}, base" if place == base and len(runs) > 1 else name),
                words(run.id),
                words(run.scale),
                words(bed),
                words(run.status),
                *map(cell, (len(trials), failed, disturbed)),
                *(words(labels[place].get(title, "")) for title in called),
            )
        )
    return Table("runs", "What is compared", columns, tuple(rows))


def facts_table(names: Sequence[str], found: Sequence[Differing]) -> Table:
    columns = [Column("fact", "fact", "fact", is_number=False)]
    columns += [Column(name, name, name, is_number=False) for name in names]
    rows = []
    for one in found:
        shown = quantity(None, one.name)
        values = (shown.text(float(v)) if shown.unit and v.isdigit() else v for v in one.values)
        rows.append((words(shown.name), *map(words, values)))
    return Table("facts", "What else differs between the runs", tuple(columns), tuple(rows))


def unlike_table(study: Study, found: Sequence[Unlike]) -> Table:
    columns = tuple(
        Column(name, name, name, is_number=False)
        for name in ("experiment", "condition", "not compared, as")
    )
    experiments = experiment_cells(study)
    rows = []
    for one in found:
        if one.differing:
            named = {
                key: " and ".join(
                    "not set" if level is None else level_text(study, key, level) for level in pair
                )
                for key, pair in one.differing.items()
            }
            why = "; ".join(f"{name_of(key)} is {levels}" for key, levels in named.items())
            why += f" in {' and '.join(one.has)}"
        else:
            why = f"only {', '.join(one.has)} has it" if len(one.has) == 1 else ""
            why = why or f"{', '.join(one.lacks)} lacks it"
        where = condition_text(study, one.factors) or "all"
        title = experiments.get(one.experiment) or words(one.experiment)
        rows.append((title, words(where), words(why)))
    return Table("unlike", "What was not compared", columns, tuple(rows))


def published_record(one: PublishedRatio) -> dict[str, Level | None]:
    """All fields of one comparison by name, in SI units; missing values are `None`."""
    summary, value = one.ours, one.value
    low, high = one.interval or (None, None)
    return {
        "experiment": summary.experiment,
        "metric": summary.metric,
        "condition": ", ".join(f"{key}={level}" for key, level in one.factors.items()),
        "series": one.series,
        "n": summary.n,
        "missing": summary.missing,
        "polluted": summary.disturbed,
        "value": summary.mean,
        "published id": value.id,
        "published": value.published,
        "published SI": value.si,
        "unit": value.si_unit,
        "bound": value.bound,
        "published SD": None if one.sd is None else one.sd.si,
        "published trials": one.their_trials,
        "ratio": one.ratio,
        "ratio 95 % low": low,
        "ratio 95 % high": high,
        "interval has their spread": one.has_their_spread,
        "why no interval": one.why or None,
        "where": value.where,
    }


def published_table(study: Study, found: Sequence[PublishedRatio]) -> Table:
    by = obtained(study)
    numbers = (by, "n", "published", "their SD", f"{by} / published")
    names = ("metric", "condition", "of", *numbers, "interval of", "where")
    columns = tuple(Column("", name, name, is_number=name in numbers) for name in names)
    rows = []
    for one in found:
        summary = one.ours
        shown = quantity(study, summary.metric).readable([summary.mean])
        whose = "both" if one.has_their_spread else "ours alone" if one.interval else one.why
        ours = "none"
        if summary.mean is not None:
            ours = shown.mean_text(summary, study, shown.unit)
            ours += f" {DISTURBED}" if summary.disturbed else ""
        texts = (
            shown.name,
            condition_text(study, one.factors) or "all",
            one.series,
            ours,
            summary.n_text,
            as_printed(one.value),
            "" if one.sd is None else as_printed(one.sd),
            "" if one.ratio is None else with_ends(one.ratio, one.interval),
            whose,
            one.value.where,
        )
        rows.append(tuple(Cell(None, text) for text in texts))
    title = f"{by.capitalize()} and published"
    return Table("measured-and-published", title, columns, tuple(rows))
