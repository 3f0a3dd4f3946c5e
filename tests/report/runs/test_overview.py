"""Runs of one study have a name by what tells them apart."""

from dataclasses import replace

from copy_runs import copy_run
from synthetic_runs import synthetic_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.report.page.rendering import rendered
from lanlab.report.runs.overview import names_apart, with_overviews
from lanlab.report.runs.run_page import run_on_page
from lanlab.store import TrialRecord
from lanlab.studies.load import load_study
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


def _faster(trial: TrialRecord) -> TrialRecord:
    rate = {key: 1000 * trial.metrics[key] for key in ("goodput_bps",) if key in trial.metrics}
    return replace(trial, metrics={**trial.metrics, **rate})


def test_all_runs_are_drawn_if_they_share_no_figure() -> None:
    made = synthetic_run("manford-kolahi", "tiny", where="real")
    places = (("virtual", "10M"), ("loopback", "unshaped"), ("virtual", "100M"))
    runs = [
        replace(made.run, id=f"run-{n}", testbed={**made.run.testbed, "name": bed, "link": link})
        for n, (bed, link) in enumerate(places)
    ]
    faster = [made.trials, list(map(_faster, made.trials)), made.trials]
    others = [trial for trial in made.trials if trial.experiment == "round-trip"]
    for trials, shares in ((faster, True), ([made.trials, others, made.trials], False)):
        styles: dict[str, int] = {}
        pages = [
            run_on_page(RunData(run, each), f"page-{n}", None, styles)
            for n, (run, each) in enumerate(zip(runs, trials, strict=True))
        ]
        pages, overviews = with_overviews(pages)
        (overview,) = overviews.values()
        page = rendered("report", has_files=True, pages=pages, overviews=overviews)
        assert (overview.figure is not None) == shares
        assert page.count("<figure ") == (1 if shares else 3)
        assert ("Each run has a figure of its own" in page) != shares
        # Answers of several runs of one kind say which run.
        assert page.count("<dd>Here (testbed ") == 3
        rows = [row for table in overview.conditions for row in table.rows]
        assert len({row[0].text for row in rows if row[0].text.startswith("here (testbed ")}) == 3
        assert not any("trials each" in line for _, said in overview.answers for line in said)
        assert sum("trials each" in line for line in overview.in_full) == 3


def test_figures_of_several_experiments_have_their_own_section() -> None:
    made = synthetic_run("brutman-mtcp", "quick", where="simulated")
    page = run_on_page(RunData(*made.pair(), published=made.published), "x")
    figures = {one.title: len(one.figures) for one in page.experiments}
    assert [*figures][-1] == "Several experiments together" and figures.popitem()[1] == 1
    assert {count for title, count in figures.items() if "FTP" in title} == {0}
    assert page.lead is page.experiments[0].figures[0]
