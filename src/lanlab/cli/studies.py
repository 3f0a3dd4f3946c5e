"""`lanlab studies`: the studies to run."""

from __future__ import annotations

from lanlab.cli.options import JsonOption
from lanlab.cli.terminal import answer, print_json


def studies(as_json: JsonOption = False) -> None:
    """List the studies that come with lanlab.

    Example: lanlab studies
    """
    from lanlab.studies import known_studies, load_study

    found = [load_study(name).study for name in known_studies()]
    if as_json:
        print_json(
            {
                "studies": [
                    {
                        "id": study.id,
                        "title": study.title,
                        "scales": list(study.scale),
                        "waiting": [
                            {"id": part.id, "title": part.title, "workload": part.workload}
                            for part in study.waiting
                        ],
                    }
                    for study in found
                ]
            }
        )
        return
    from lanlab.report.document.fitted import fitted_rows
    from lanlab.report.document.table import Column

    rows = []
    for study in found:
        missing = dict.fromkeys(part.workload for part in study.waiting)
        waits = f"needs {', '.join(missing)}" if missing else ""
        scales = ", ".join(study.scale) or "none yet"
        rows.append((study.id, study.question or study.title, scales, waits))
    # `lanlab show STUDY` also lists the scales, so a narrow terminal omits them.
    headings = {"study": 0, "question": 0, "scales": 2, "not yet": 1}
    columns = [
        Column("", short=heading, is_number=False, rank=rank) for heading, rank in headings.items()
    ]
    answer().print(fitted_rows("", columns, rows))
