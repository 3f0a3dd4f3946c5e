"""Runs of one study have a name by what tells them apart."""

from dataclasses import replace

from copy_runs import copy_run

from lanlab.report.runs.overview import names_apart
from lanlab.studies import load_study
from lanlab.studies.runs_on import study_on


def test_runs_are_named_by_their_differences() -> None:
    study = study_on(load_study("schomer-claason").study, "real", "tiny")
    run, _ = copy_run(study, dict.fromkeys(("nfs", "ftp"), (1e-7, 1e-3, 0.0)), scale="tiny")
    other = replace(run, id="other", scale="quick")
    assert names_apart([run, other]) == ["scale tiny", "scale quick"]
    later = replace(run, id="later", started_at="2026-11-29T01:02:03+00:00")
    begun = run.started_at[:19].replace("T", " ")
    assert names_apart([run, later]) == [f"begun {begun}", "begun 2026-11-29 01:02:03"]
    same = replace(run, id="same")
    assert names_apart([run, same]) == [f"run {run.id}", "run same"]
    titled = replace(run, id="titled", study={**run.study, "title": "Another measurement"})
    assert names_apart([run, titled]) == [study.title, "Another measurement"]
    changed = replace(run, id="changed", study_id=f"{run.study_id}-what-if")
    assert names_apart([run, changed]) == ["as in the study", "changed"]
