"""`lanlab studies`: what can be run."""

from __future__ import annotations

from lanlab.cli.options import JsonOption


def studies(as_json: JsonOption = False) -> None:
    """List the studies that lanlab knows.

    Example: lanlab studies
    """
    from lanlab.cli.terminal import answer, print_json
    from lanlab.studies import known_studies, load_study

    found = [load_study(name).study for name in known_studies()]
    if as_json:
        print_json(
            {
                "studies": [
                    {"id": study.id, "title": study.title, "scales": list(study.scale)}
                    for study in found
                ]
            }
        )
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("study", "question", "scales"):
        table.add_column(heading)
    for study in found:
        table.add_row(study.id, study.question or study.title, ", ".join(study.scale))
    answer().print(table)
