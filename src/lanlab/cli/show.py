"""`lanlab show`: what a study is."""

from __future__ import annotations

from typing import Annotated

import typer

from lanlab.cli import complete
from lanlab.cli.options import JsonOption


def show(
    study: Annotated[
        str,
        typer.Argument(
            help="Name of a study, or path of a study file.", autocompletion=complete.studies
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Show what a study varies and measures, its scales and its published numbers.

    Example: lanlab show milanovic-srbljic
    """
    from lanlab.cli.terminal import answer, print_json
    from lanlab.plan import Plan
    from lanlab.studies import load_study

    loaded = load_study(study)
    data = loaded.study
    estimates = {name: Plan(data, name, seed=0).estimate() for name in data.scale}
    if as_json:
        print_json(
            {
                "study": data.model_dump(mode="json", exclude_none=True),
                "published": loaded.published.model_dump(mode="json", exclude_none=True)["value"],
                "sha256": loaded.sha256,
                "estimates": {
                    name: {"trials": estimate.trials, "seconds": estimate.seconds}
                    for name, estimate in estimates.items()
                },
            }
        )
        return
    from rich.table import Table

    console = answer()
    console.print(f"{data.title}  ({data.id})", style="bold")
    if data.question:
        console.print(data.question)
    if data.source:
        console.print(data.source.citation)
    if data.testbed.published:
        console.print(f"published test-bed: {data.testbed.published}")
    console.print(f"test-bed here: {data.testbed.hosts} hosts, link {data.testbed.link}\n")
    for experiment in data.experiment:
        console.print(f"{experiment.id}: {experiment.title}", style="bold")
        console.print(f"  workload {experiment.workload}, measures {', '.join(experiment.metrics)}")
        for name, levels in experiment.factors.items():
            console.print(f"  {name}: {', '.join(str(level) for level in levels)}")
        if experiment.search:
            search = experiment.search
            goals = ", ".join(f"{100 * goal:g} %" for goal in search.loss_goals)
            console.print(
                f"  highest {search.factor} between {search.low} and {search.high} "
                f"at which at most {goals} is lost, by {search.metric}"
            )
            if search.curve:
                console.print(f"  then the curve at {search.curve} loads")
    scales = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("scale", "trials, at most", "minutes, about", ""):
        scales.add_column(heading, justify="left" if heading in ("scale", "") else "right")
    for name, estimate in estimates.items():
        minutes = f"{estimate.seconds / 60:.1f}"
        scales.add_row(name, str(estimate.trials), minutes, data.scale[name].title)
    console.print()
    console.print(scales)
    numbers = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("published", "metric", "statistic", "condition", "where"):
        numbers.add_column(heading)
    for value in loaded.published.value:
        condition = ", ".join(f"{key} {level}" for key, level in value.condition.items())
        text = f"{value.published} ({value.value:g} {value.unit})"
        numbers.add_row(text, value.metric, value.statistic, condition, value.where)
    if loaded.published.value:
        console.print()
        console.print(numbers)
