"""A comparison with everything that is said of it, on whichever face."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lanlab.analysis.comparison import Compared, judged
from lanlab.analysis.comparison_facts import Differing, differing_facts
from lanlab.analysis.comparison_published import BesidePublished, beside_published
from lanlab.analysis.comparison_runs import Paired, pair_levels, pair_runs, run_names
from lanlab.figures.wording import condition_text, level_text, number, quantity
from lanlab.report.answer import published_numbers
from lanlab.report.comparison_table import (
    comparison_csv,
    comparison_tables,
    facts_table,
    flat,
    published_table,
    runs_table,
    unlike_table,
)
from lanlab.report.comparison_text import comparison_sentences, correction_sentence
from lanlab.report.table import Table
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.shape import reading_records
from lanlab.studies import Study

Run = tuple[RunRecord, Sequence[TrialRecord]]


@dataclass(frozen=True)
class RunComparison:
    """Runs of one study, or levels of a factor within one."""

    study: Study
    names: tuple[str, ...]
    runs: tuple[Run, ...]
    base: int
    found: tuple[Compared, ...]
    #: `None` within a run.
    paired: Paired | None
    facts: tuple[Differing, ...]

    @property
    def run_ids(self) -> str:
        """Of the runs, for errors."""
        return ", ".join(run.id for run, _ in self.runs)

    @property
    def sentences(self) -> list[str]:
        """What was found, and what is to be known of it."""
        said = comparison_sentences(self.study, self.found)
        said += filter(None, [correction_sentence(self.found)])
        return said + _remarks(self)

    @property
    def tables(self) -> list[Table]:
        """For the terminal and the page, in order."""
        return [self.runs_table, *comparison_tables(self.study, self.found), *self.others]

    @property
    def runs_table(self) -> Table:
        """Which run is which."""
        return runs_table(self.names, self.runs, self.base)

    @property
    def others(self) -> list[Table]:
        """What else differs, and what was not compared."""
        tables = [facts_table(self.names, self.facts)]
        if self.paired is not None:
            tables.append(unlike_table(self.study, self.paired.unlike))
        return [table for table in tables if table.rows]

    def csv(self) -> Table:
        """Every comparison at full precision."""
        return comparison_csv(self.found)

    def page(self) -> str:
        """As HTML."""
        from lanlab.report.comparison_page import comparison_page

        return comparison_page(self.study, self.found, self.sentences, self.runs_table, self.others)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        unlike = () if self.paired is None else self.paired.unlike
        return {
            "study": self.study.id,
            "base": self.names[self.base],
            "runs": [
                {"name": name, "run": run.id, "status": run.status, "trials": len(trials)}
                for name, (run, trials) in zip(self.names, self.runs, strict=True)
            ],
            "comparisons": [
                {_key(key): value for key, value in flat(one).items()}
                | {"factors": dict(one.factors)}
                for one in self.found
            ],
            "not_compared": [
                {
                    "experiment": one.experiment,
                    "factors": dict(one.factors),
                    "has": list(one.has),
                    "lacks": list(one.lacks),
                    "differing": {key: list(pair) for key, pair in one.differing.items()},
                }
                for one in unlike
            ],
            "facts": {one.name: list(one.values) for one in self.facts},
            "sentences": self.sentences,
        }


@dataclass(frozen=True)
class PublishedComparison:
    """A run against what its study printed."""

    study: Study
    run: Run
    found: tuple[BesidePublished, ...]

    @property
    def run_ids(self) -> str:
        """Of the run, for errors."""
        return self.run[0].id

    @property
    def sentences(self) -> list[str]:
        """What was found, and what is to be known of it."""
        said = [_beside(self.study, one) for one in self.found]
        alone = sum(one.interval is not None and not one.has_their_spread for one in self.found)
        if alone:
            said.append(
                f"Of {alone} printed number{'s' if alone != 1 else ''} no spread is known: "
                "the interval is of our trials alone, and the number is taken as it stands."
            )
        said.append(
            "Machines, systems and times differ: a ratio says how far apart two measurements "
            "are, not why."
        )
        return said + _state([("RUN1", *self.run)])

    @property
    def tables(self) -> list[Table]:
        """For the terminal and the page, in order."""
        return [
            runs_table(("RUN1",), (self.run,), 0),
            published_table(self.study, self.found),
        ]

    def csv(self) -> Table:
        """Every printed number with ours, at full precision."""
        return self.tables[1]

    def page(self) -> str:
        """As HTML."""
        from lanlab.report.comparison_page import published_page

        return published_page(self.study, self.found, self.sentences, self.tables[0])

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        run, trials = self.run
        return {
            "study": self.study.id,
            "run": run.id,
            "status": run.status,
            "trials": len(trials),
            "comparisons": [
                {
                    "experiment": one.ours.experiment,
                    "metric": one.ours.metric,
                    "factors": one.ours.factors,
                    "series": one.series,
                    "n": one.ours.n,
                    "missing": one.ours.missing,
                    "polluted": one.ours.polluted,
                    "measured": one.ours.mean,
                    "published_id": one.value.id,
                    "published": one.value.published,
                    "published_si": one.value.si,
                    "unit": one.value.si_unit,
                    "bound": one.value.bound,
                    "published_sd": None if one.sd is None else one.sd.si,
                    "published_trials": one.their_trials,
                    "ratio": one.ratio,
                    "ratio_95_low": None if one.interval is None else one.interval[0],
                    "ratio_95_high": None if one.interval is None else one.interval[1],
                    "interval_has_their_spread": one.has_their_spread,
                    "why_no_interval": one.why or None,
                    "where": one.value.where,
                }
                for one in self.found
            ],
            "sentences": self.sentences,
        }


def between_runs(
    runs: Sequence[Run],
    base: int = 0,
    metrics: Sequence[str] | None = None,
    margin_ratio: float | None = None,
) -> RunComparison:
    """Runs of one study against the one at `base`; raises as `pair_runs` and `judged`."""
    with reading_records(", ".join(run.id for run, _ in runs)):
        paired = pair_runs(runs, base, metrics)
        return RunComparison(
            study=Study.model_validate(runs[base][0].study),
            names=run_names(len(runs)),
            runs=tuple(runs),
            base=base,
            found=tuple(judged(paired.comparisons, margin_ratio)),
            paired=paired,
            facts=differing_facts(runs),
        )


def within_run(
    run: Run,
    factor: str,
    base: str | None = None,
    metrics: Sequence[str] | None = None,
    margin_ratio: float | None = None,
) -> RunComparison:
    """Levels of a factor of one run; raises as `pair_levels` and `judged`."""
    with reading_records(run[0].id):
        study = Study.model_validate(run[0].study)
        found = pair_levels(
            run, factor, base, metrics, lambda level: level_text(study, factor, level)
        )
        return RunComparison(
            study=study,
            names=run_names(1),
            runs=(run,),
            base=0,
            found=tuple(judged(found, margin_ratio)),
            paired=None,
            facts=(),
        )


def with_published(run: Run, metrics: Sequence[str] | None = None) -> PublishedComparison:
    """A run against what its study printed; raises as `beside_published`."""
    with reading_records(run[0].id):
        found = beside_published(*run, published_numbers(run[0]), metrics)
        return PublishedComparison(Study.model_validate(run[0].study), run, found)


def _key(name: str) -> str:
    """A column's name as a key.

    Examples:
        >>> _key("other mean 95 % low"), _key("p, Holm"), _key("Hedges g")
        ('other_mean_95_low', 'p_holm', 'hedges_g')
    """
    return "_".join(name.replace("%", "").replace(",", "").lower().split())


def _remarks(comparison: RunComparison) -> list[str]:
    said = []
    paired = comparison.paired
    names = comparison.names
    if paired is not None:
        if paired.unlike:
            said.append(
                f"{len(paired.unlike)} condition{'s' if len(paired.unlike) != 1 else ''} "
                "of unlike kind, or of one run alone, were not compared: see the table."
            )
        for key, pair in paired.amounts.items():
            values = " and ".join("not set" if one is None else str(one) for one in pair)
            said.append(
                f"The runs measured unlike amounts ({key}: {values}): what builds up within a "
                "trial, such as a queue, weighs differently."
            )
        if paired.searches:
            said.append(f"Searches are not compared: {', '.join(paired.searches)}.")
        differing = len(comparison.facts)
        verb = "s differ" if differing != 1 else " differs"
        which = f"{differing} fact{verb}, see the table; " if differing else ""
        said.append(
            f"The runs were measured one after another: {which}what changed between them, the "
            "hour included, cannot be told apart."
        )
    return said + _state(
        [(name, run, trials) for name, (run, trials) in zip(names, comparison.runs, strict=True)]
    )


def _state(runs: Sequence[tuple[str, RunRecord, Sequence[TrialRecord]]]) -> list[str]:
    """What of runs is unfinished, failed or disturbed."""
    said = []
    for name, run, trials in runs:
        if run.status != "done":
            said.append(f"{name} is {run.status}: these are the trials that had ended.")
        failed = sum(trial.status == "failed" for trial in trials)
        if failed:
            said.append(f"{name}: {failed} of {len(trials)} trials failed; they are in no mean.")
        polluted = sum(trial.is_polluted for trial in trials)
        if polluted:
            said.append(
                f"{name}: {polluted} of {len(trials)} trials were polluted; means that have such "
                "are marked \N{DAGGER}."
            )
    return said


def _beside(study: Study, one: BesidePublished) -> str:
    shown = quantity(study, one.ours.metric)
    where = condition_text(study, one.ours.factors)
    at = f" at {where}" if where else ""
    series = f" ({one.series})" if one.series else ""
    if one.ratio is None:
        return f"{shown.name[0].upper()}{shown.name[1:]}{at}{series}: {one.why}."
    ends = ""
    if one.interval is not None:
        ends = f" ({number(one.interval[0], 3)} … {number(one.interval[1], 3)})"
    reason = f", {one.why}" if one.why else ""
    return (
        f"The {shown.name}{at} is {number(one.ratio, 3)}{ends} times the "
        f"\N{LEFT DOUBLE QUOTATION MARK}{one.value.published}\N{RIGHT DOUBLE QUOTATION MARK} "
        f"printed{series}{reason}."
    )
