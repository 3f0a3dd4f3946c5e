"""A comparison with all its sentences and tables, for the terminal, the page and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lanlab.analysis.comparison.compare import Compared, judged
from lanlab.analysis.comparison.facts import Differing, differing_facts
from lanlab.analysis.comparison.published import PublishedRatio, compare_with_published
from lanlab.analysis.comparison.run_spread import Others
from lanlab.analysis.comparison.runs import Paired, pair_levels, pair_sides, run_names, sides_of
from lanlab.analysis.comparison.sides import Run, Side
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.chart import Chart
from lanlab.figures.number_text import counted, with_ends
from lanlab.figures.wording import condition_text, level_text, quantity, quoted
from lanlab.frozen import dataclass
from lanlab.report.comparison.comparison_remarks import remarks, run_state
from lanlab.report.comparison.comparison_table import (
    comparison_tables,
    facts_table,
    flat,
    groups_of,
    published_record,
    published_table,
    runs_table,
    unlike_table,
)
from lanlab.report.comparison.comparison_text import (
    comparison_sentences,
    correction_sentence,
    model_sentences,
)
from lanlab.report.document.document import Document
from lanlab.report.document.table import Table, table_of_records
from lanlab.store.labels import label_of
from lanlab.store.shape import reading_records
from lanlab.studies.model import Study


@dataclass(frozen=True)
class RunComparison:
    study: Study
    sides: tuple[Side, ...]
    base: int
    found: tuple[Compared, ...]
    #: `None` for a comparison within one run.
    paired: Paired | None
    facts: tuple[Differing, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(run for side in self.sides for run in side.runs)

    @property
    def names(self) -> tuple[str, ...]:
        """The label of each run: the name of its side, numbered if the side has several runs."""
        return tuple(
            f"{side.name}{place + 1}" if len(side.runs) > 1 else side.name
            for side in self.sides
            for place in range(len(side.runs))
        )

    @property
    def run_ids(self) -> str:
        return ", ".join(run.id for run, _ in self.runs)

    @property
    def heading(self) -> str:
        if self.paired is None:
            return f"{_called(self.runs[0])}, level by level"
        called = [_headed(side) for side in self.sides]
        base = called.pop(self.base)
        return f"{', '.join(called)} compared with {base}"

    @property
    def sentences(self) -> list[str]:
        said = comparison_sentences(self.study, self.found)
        said += filter(None, [correction_sentence(self.found)])
        said += model_sentences(self.study, self.found)
        if self.paired is not None:
            said += remarks(self.paired, self.found, self.sides, len(self.facts))
        return said + run_state(self.sides)

    @property
    def tables(self) -> list[Table]:
        return [self.runs_table, *comparison_tables(self.study, self.found), *self.others]

    @property
    def runs_table(self) -> Table:
        base = self.sides[self.base]
        return runs_table(
            self.names,
            self.runs,
            sum(len(side.runs) for side in self.sides[: self.base]) if len(base.runs) == 1 else -1,
        )

    @property
    def others(self) -> list[Table]:
        tables = [facts_table([side.name for side in self.sides], self.facts)]
        if self.paired is not None:
            tables.append(unlike_table(self.study, self.paired.unlike))
        return [table for table in tables if table.rows]

    @property
    def _yardsticks(self) -> tuple[Others, ...]:
        is_used = any(one.basis == "known spread" for one in self.found)
        return self.paired.yardsticks if self.paired is not None and is_used else ()

    def csv(self) -> Table:
        return table_of_records("comparison", "Comparison", [flat(one) for one in self.found])

    def page(self, home: str = "") -> str:
        """As HTML; `home` is the address of a list of runs to link to, if any."""
        from lanlab.figures.forests import ratio_forest

        charts = [ratio_forest(self.study, group) for group in groups_of(self.found)]
        return _page(self, charts, comparison_tables(self.study, self.found), self.others, home)

    @property
    def document(self) -> Document:
        return Document(self.sentences, self.tables, data=self._data())

    def _data(self) -> dict[str, object]:
        unlike = () if self.paired is None else self.paired.unlike
        return {
            "study": self.study.id,
            "base": self.sides[self.base].name,
            "sides": [
                {"name": side.name, "what": side.what, "runs": [run.id for run, _ in side.runs]}
                for side in self.sides
            ],
            "other_runs": sorted({run.id for one in self._yardsticks for run, _ in one.runs}),
            "settings": {
                key: list(pair)
                for key, pair in (self.paired.settings if self.paired else {}).items()
            },
            "runs": [
                {"name": name, "run": run.id, "status": run.status, "trials": len(trials)}
                | {"label": label_of(run).to_json()}
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
        }


@dataclass(frozen=True)
class PublishedComparison:
    study: Study
    run: Run
    found: tuple[PublishedRatio, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        return (self.run,)

    @property
    def sentences(self) -> list[str]:
        said = [_published_sentence(self.study, one) for one in self.found]
        alone = sum(one.interval is not None and not one.has_their_spread for one in self.found)
        if alone:
            said.append(
                f"{counted(alone, 'published value')} without a known spread: the interval is from "
                "our trials alone, and the published value is taken as exact."
            )
        said.append(
            "Machines, systems and times differ: a ratio shows how far apart two measurements "
            "are, not why."
        )
        return said + run_state([Side("RUN1", (self.run,))])

    @property
    def heading(self) -> str:
        return f"{_called(self.run)} compared with the published values"

    @property
    def runs_table(self) -> Table:
        return runs_table(("RUN1",), (self.run,), 0)

    @property
    def tables(self) -> list[Table]:
        return [self.runs_table, published_table(self.study, self.found)]

    def csv(self) -> Table:
        records = [published_record(one) for one in self.found]
        return table_of_records("comparison", "Comparison", records)

    def page(self) -> str:
        from lanlab.figures.forests import published_forest

        metrics = dict.fromkeys(one.ours.metric for one in self.found)
        groups = [[one for one in self.found if one.ours.metric == metric] for metric in metrics]
        charts = [published_forest(self.study, group) for group in groups]
        return _page(self, charts, [published_table(self.study, group) for group in groups])

    @property
    def document(self) -> Document:
        return Document(self.sentences, self.tables, data=self._data())

    def _data(self) -> dict[str, object]:
        run, trials = self.run
        return {
            "study": self.study.id,
            "run": run.id,
            "status": run.status,
            "label": label_of(run).to_json(),
            "trials": len(trials),
            "comparisons": [
                {_key(key): value for key, value in published_record(one).items()}
                | {"factors": dict(one.factors), "published_name": _published_name(self.study, one)}
                for one in self.found
            ],
        }


def _page(
    compared: RunComparison | PublishedComparison,
    charts: Sequence[Chart],
    tables: Sequence[Table],
    others: Sequence[Table] = (),
    home: str = "",
) -> str:
    from lanlab.figures.finishing import with_page_styles
    from lanlab.report.page.figure_page import figure_on_page
    from lanlab.report.page.rendering import rendered

    figures = [
        figure_on_page(chart, "", f"comparison-{place}")
        for place, chart in enumerate(with_page_styles(charts, {}), 1)
    ]
    return rendered(
        "comparison",
        heading=compared.heading,
        study=compared.study,
        parts=list(zip(figures, tables, strict=True)),
        answer=compared.sentences,
        runs=compared.runs_table,
        others=others,
        home=home,
    )


def between_runs(
    runs: Sequence[Run],
    base: int = 0,
    metrics: Sequence[str] | None = None,
    margin_ratio: float | None = None,
    others: Sequence[Run] = (),
) -> RunComparison:
    """Compare runs of one study with the run at `base`. Raises as `sides_of`, `between_sides`."""
    with reading_records(", ".join(run.id for run, _ in runs)):
        sides = sides_of(runs)
        return between_sides(sides, metrics, margin_ratio, others, base, settings_differ=False)


def between_sides(
    sides: Sequence[Side],
    metrics: Sequence[str] | None = None,
    margin_ratio: float | None = None,
    others: Sequence[Run] = (),
    base: int = 0,
    *,
    settings_differ: bool = True,
) -> RunComparison:
    """Compare runs of several settings with those at `base`. Raises as `pair_sides`, `judged`."""
    with reading_records(", ".join(run.id for side in sides for run, _ in side.runs)):
        paired = pair_sides(sides, base, metrics, others, settings_differ=settings_differ)
        records = [
            (side.runs[0][0], [trial for _, trials in side.runs for trial in trials])
            for side in sides
        ]
        return RunComparison(
            study=Study.model_validate(sides[base].runs[0][0].study),
            sides=tuple(sides),
            base=base,
            found=_judged(paired.comparisons, records, margin_ratio),
            paired=paired,
            facts=differing_facts(records),
        )


def _judged(
    found: Sequence[Compared], runs: Sequence[Run], margin_ratio: float | None
) -> tuple[Compared, ...]:
    simulated = [run for run in runs if Study.model_validate(run[0].study).is_simulated]
    if simulated:
        from lanlab.analysis.simulation.model_error import ratio_factor
        from lanlab.analysis.simulation.run import held_out_of

        held_out = held_out_of(RunData(*simulated[0]))
        found = [replace(one, model_factor=ratio_factor(held_out, one.metric)) for one in found]
    return tuple(judged(found, margin_ratio))


def within_run(
    run: Run,
    factor: str,
    base: str | None = None,
    metrics: Sequence[str] | None = None,
    margin_ratio: float | None = None,
) -> RunComparison:
    """Compare levels of a factor within one run. Raises as `pair_levels` and `judged`."""
    with reading_records(run[0].id):
        study = Study.model_validate(run[0].study)
        found = pair_levels(run, factor, base, metrics, partial(level_text, study))
        return RunComparison(
            study=study,
            sides=(Side(run_names([run])[0], (run,)),),
            base=0,
            found=_judged(found, [run], margin_ratio),
            paired=None,
            facts=(),
        )


def with_published(run: Run, metrics: Sequence[str] | None = None) -> PublishedComparison:
    """Compare a run with its study's published values. Raises as `compare_with_published`."""
    with reading_records(run[0].id):
        found = compare_with_published(RunData(*run), metrics)
        return PublishedComparison(Study.model_validate(run[0].study), run, found)


def _headed(side: Side) -> str:
    if len(side.runs) > 1:
        return side.what or side.name
    called = _called(side.runs[0])
    return called if side.name in called else f"{side.name} ({called})"


def _called(run: Run) -> str:
    return label_of(run[0]).name or f"run {run[0].id}"


def _key(name: str) -> str:
    """The JSON key of a column."""
    return "_".join(name.replace("%", "").replace(",", "").lower().split())


def _published_name(study: Study, one: PublishedRatio) -> str:
    shown, where = quantity(study, one.value.metric), condition_text(study, one.value.condition)
    return f"{shown.name}, {where}" if where else shown.name


def _published_sentence(study: Study, one: PublishedRatio) -> str:
    shown = quantity(study, one.ours.metric)
    where = condition_text(study, one.factors)
    at = f" at {where}" if where else ""
    series = f" ({one.series})" if one.series else ""
    if one.ratio is None:
        return f"{shown.name[0].upper()}{shown.name[1:]}{at}{series}: {one.why}."
    reason = f", {one.why}" if one.why else ""
    return (
        f"The {shown.name}{at} is {with_ends(one.ratio, one.interval)} times the "
        f"published {quoted(one.value.published)}{series}{reason}."
    )
