"""`lanlab findings`: what a study concluded, judged by its own numbers or by a run."""

from __future__ import annotations

from typing import Annotated

import typer

from lanlab.cli import complete
from lanlab.cli.options import JsonOption, StoreOption, StudyArgument
from lanlab.errors import UsageError


def findings(
    study: StudyArgument,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="Check the findings against this run (its id, the first characters of it, or "
            "`last`). Default: against the published values.",
            autocompletion=complete.runs,
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the findings of a study, with the numbers behind each verdict.

    A finding holds, does not hold, is undecided, or is not tested because the run lacks its
    condition. For an undecided finding lanlab says how many more trials would decide it.

    Examples: lanlab findings schomer-claason;
    lanlab findings my-study.toml --run last --json
    """
    from lanlab.analysis.findings import judge_published, judge_run, verdicts_as_data
    from lanlab.cli.finding_results import print_verdicts
    from lanlab.cli.terminal import print_json
    from lanlab.store import open_store
    from lanlab.store.shape import reading_records
    from lanlab.studies import load_study

    loaded = load_study(study)
    if not loaded.findings:
        raise UsageError(
            f"study `{loaded.study.id}` has no findings",
            hint="write them as [[finding]] in the study file; docs/findings.md has the forms",
        )
    if run is None:
        if not loaded.published.value:
            raise UsageError(
                f"study `{loaded.study.id}` has no published values to check its findings against",
                hint=f"check them against a run: `lanlab run {study} --check`, "
                f"or `lanlab findings {study} --run last`",
            )
        verdicts = judge_published(loaded)
    else:
        with open_store(store) as records:
            record = records.run(run)
            if record.study_id != loaded.study.id:
                raise UsageError(
                    f"run {record.id} belongs to study `{record.study_id}`, "
                    f"not to `{loaded.study.id}`",
                    hint="`lanlab runs` lists the runs with their studies",
                )
            trials = records.trials(record.id)
        with reading_records(record.id):
            verdicts = judge_run(loaded.findings, record, trials)
    if as_json:
        print_json(
            {"study": loaded.study.id, "run": run and record.id, **verdicts_as_data(verdicts)}
        )
        return
    print_verdicts(verdicts, loaded.study)
