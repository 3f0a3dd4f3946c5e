"""`lanlab studies`: the studies to run."""

from __future__ import annotations

from lanlab.cli.options.shared import JsonOption
from lanlab.cli.terminal.remarks import answer, print_json


def studies(as_json: JsonOption = False) -> None:
    """List the studies that come with lanlab.

    Example: lanlab studies
    """
    from lanlab.studies.load import known_studies, load_study

    found = [load_study(name).study for name in known_studies()]
    if as_json:
        print_json(
            {
                "studies": [
                    {
                        "id": study.id,
                        "title": study.title,
                        "scales": list(study.scale),
                    }
                    for study in found
                ]
            }
        )
        return
    from lanlab.report.document.table import Column, table_of_texts

    rows = [(one.id, one.question or one.title, ", ".join(one.scale)) for one in found]
    # `lanlab show STUDY` also lists the scales, so a narrow terminal omits them.
    headings = {"study": 0, "question": 0, "scales": 2}
    columns = [
        Column("", short=heading, is_number=False, rank=rank) for heading, rank in headings.items()
    ]
    answer().print(table_of_texts("", columns, rows))
