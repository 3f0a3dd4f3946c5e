"""A single measurement from the command line: a study of one condition, run and kept as any."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

import typer
from pydantic import ValidationError

from lanlab.errors import UsageError
from lanlab.store import Level, RunRecord, TrialRecord


def measure(
    workload_name: str,
    parameters: Mapping[str, Level | None],
    *,
    trials: int,
    testbed: str,
    link: str | None,
    seed: int | None,
    store: str | None,
) -> tuple[RunRecord, list[TrialRecord]]:
    """
    Run one condition.

    Args:
        parameters: The workload's; those that are `None` keep their default.
        trials: How often.

    Raises:
        UsageError: A parameter is not allowed; nothing was run.
    """
    from lanlab.cli.watch import RunWatch
    from lanlab.run import RunRequest, new_run
    from lanlab.store import open_store
    from lanlab.studies.load import parse_study
    from lanlab.workloads import workload

    given = {key: value for key, value in parameters.items() if value is not None}
    kind = workload(workload_name)
    try:
        checked = kind.Parameters.model_validate(given)
    except ValidationError as error:
        raise _refused(error) from None
    study = parse_study(
        {
            "schema": 1,
            "id": workload_name,
            "title": f"one {workload_name}",
            "testbed": {"hosts": 2, "link": link or "unshaped"},
            "experiment": [
                {
                    "id": "single",
                    "title": f"one {workload_name}",
                    "workload": workload_name,
                    "metrics": [next(iter(kind.metrics))],
                    "parameters": checked.model_dump(exclude_none=True),
                }
            ],
            "scale": {"single": {"trials": {"min": trials, "max": trials}}},
        },
        f"lanlab {workload_name}",
    )
    with open_store(store) as records, RunWatch() as watch:
        request = RunRequest(study, "single", testbed, link or "unshaped", seed)
        run = new_run(request, records, watch)
        return run, records.trials(run.id)


def _refused(error: ValidationError) -> UsageError:
    """The first thing that is wrong, in the words of the command line."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "options"
    message = str(first["msg"]).removeprefix("Value error, ")
    found = "" if isinstance(first["input"], dict) else f"; found {first['input']!r}"
    return UsageError(f"{where}: {message}{found}", hint="see --help for what is allowed")


def as_json(run: RunRecord, trials: list[TrialRecord]) -> dict[str, Any]:
    """
    One object: the results by their keys in the store, and where they come from. With several
    trials each number is the mean of those that ended well, and `trials` holds each.
    """
    done = [trial.metrics for trial in trials if trial.status == "done"]
    common = [key for key in done[0] if all(key in metrics for metrics in done)] if done else []
    means = {key: math.fsum(metrics[key] for metrics in done) / len(done) for key in common}
    return {
        "run": run.id,
        "testbed": run.testbed["name"],
        "link": run.testbed["link"],
        "workload": trials[0].workload,
        "parameters": trials[0].parameters,
        **(dict(done[0]) if len(done) == 1 else means),
        "trials": [
            {"number": t.number, "status": t.status, "error": t.error, **t.metrics} for t in trials
        ],
    }


def finish(run: RunRecord, trials: list[TrialRecord]) -> None:
    """Exit as a run that failed if there is a trial that did."""
    failed = [trial for trial in trials if trial.status == "failed"]
    if failed:
        error = failed[-1].error or {}
        print(f"error: {error.get('message', 'a trial failed')}", file=sys.stderr)
        if error.get("hint"):
            print(f"hint: {error['hint']}", file=sys.stderr)
    if failed or run.status != "done":
        raise typer.Exit(1)
