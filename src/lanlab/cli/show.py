"""`lanlab show`: what a study is, and what it published."""

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
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="SECTIONS",
            help="Only these, with commas between: testbed, experiments, scales, factors, tables, "
            "numbers, figures, lost, findings, discrepancies.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a study varies and measures, and all that it published.

    Numbers that stand in no table are listed after the tables; `--only numbers` lists all.
    --json always has everything.

    Examples: lanlab show milanovic-srbljic;
    lanlab show schomer-claason --only tables,findings
    """
    from lanlab.cli import study_text
    from lanlab.cli.terminal import answer, print_json
    from lanlab.plan import Plan
    from lanlab.studies import load_study

    sections = study_text.chosen(only)
    loaded = load_study(study)
    estimates = {
        name: Plan(loaded.study, name, seed=0).estimate()
        for name in (loaded.study.scale if loaded.study.experiment else ())
    }
    if as_json:
        print_json(study_text.as_json(loaded, estimates))
        return
    console = answer()
    console.print(f"{loaded.study.title}  ({loaded.study.id})", style="bold")
    if loaded.study.question:
        console.print(loaded.study.question)
    if loaded.study.source:
        console.print(loaded.study.source.citation)
    for section in sections:
        section(console, loaded, estimates, only is not None)
