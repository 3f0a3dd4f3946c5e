"""What the tables and sentences of a run of copies say."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from copy_runs import copy_run, copy_study

from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import number
from lanlab.figures.wording import quantity
from lanlab.plan.plan import PlannedTrial
from lanlab.report.copies.copy_table import copy_table, cost_table
from lanlab.report.document.table import Cell, Column, Table
from lanlab.report.runs.build import build_report
from lanlab.report.runs.run_text import tables
from lanlab.report.trials.analyses import Analyses
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.load import load_study
from lanlab.studies.machines import Simulation

_TWO = ("1x62MB", "200x100kB")
_COSTS = {"ftp": (1e-8, 2e-3, 0.0), "smb": (2e-8, 1e-3, 0.0)}
_SERVICES = dict.fromkeys(
    ("smb1", "smb1+nbf", "smb1+ipx", "smb1+nbipx", "smb", "nfs", "ftp", "webdav", "sftp"),
    (9e-8, 1e-3, 0.0),
)
_STALL = {
    "operation": "close", "likely": "delayed acknowledgement (Linux)", "mode_ns": 40_100_000,
    "calls": 12, "calls_ratio": 0.5, "time_ratio": 0.9,
}  # fmt: skip


def rows_of(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def told(trials: list[TrialRecord], **source: Any) -> list[TrialRecord]:
    base = {
        "facts": {"protocol": "FTP", "protection": "none"},
        "manner": {"in_order": True, "depth": 1, "block_bytes": 262_144},
        "faults": {},
        "stalls": [],
    }
    raw = {
        "client": {**base, **source},
        "setup": {"checked": {"verified": {"how": "content"}}, "emptied": {"is_gone": True}},
    }
    return [replace(trial, raw=raw) if trial.status == "done" else trial for trial in trials]


def schomer() -> tuple[RunRecord, list[TrialRecord]]:
    return copy_run(load_study("schomer-claason").study, _SERVICES, 0.01)


def test_costs_are_in_seconds_in_csv_and_scaled_in_text() -> None:
    study = copy_study(["ftp", "smb"], _TWO)
    table = cost_table(RunData(*copy_run(study, _COSTS, 0.01), study), "copies")

    ftp, smb = rows_of(table)
    assert (ftp["service"], smb["service"]) == ("ftp", "smb")
    assert float(ftp["per byte (s/B)"]) == pytest.approx(1e-8, rel=0.03)
    low, high = (float(smb[f"per file, 95 % {end} (s)"]) for end in ("low", "high"))
    assert low < 1e-3 < high
    assert ftp["copied"] == "5 trials of 1 file, 62.0 MB; 5 trials of 200 files, 20.0 MB"
    assert ftp["per trial (s)"] == ""
    shown = {column.heading: cells[0].text for column, cells in table.shown()}
    assert shown["per GB (s)"].startswith("10.") or shown["per GB (s)"].startswith("9.")
    assert "±" in shown["per file (ms)"]


def test_frames_and_bytes_on_the_medium_are_shown_with_costs() -> None:
    """Where a medium has counted them; 0.8 frames and 1,080 bytes a kB, 7 and 900 a file."""
    study = copy_study(["ftp"], _TWO)
    run, trials = copy_run(study, _COSTS, 0.01)
    assert "frames per kB" not in {column.heading for column, _ in _shown(run, trials)}
    for trial in trials:
        octets, files = trial.metrics["copied_bytes"], trial.metrics["copied_files"]
        trial.metrics["wire_frames"] = round(0.8e-3 * octets + 7 * files)
        trial.metrics["wire_bytes"] = round(1.08 * octets + 900 * files)
    shown = {column.heading: cells[0].text for column, cells in _shown(run, trials)}
    assert shown["frames per kB"] == "0.800" and shown["frames per file"] == "7.00"
    assert shown["bytes on the medium per byte"] == "1.08"
    assert shown["bytes on the medium per file"] == "900"


def _shown(run: RunRecord, trials: list[TrialRecord]) -> list[tuple[Column, list[Cell]]]:
    return cost_table(RunData(run, trials, copy_study(["ftp"], _TWO)), "copies").shown()


def test_the_fit_quality_is_shown_next_to_the_costs() -> None:
    study = copy_study(["ftp"], (*_TWO, "50x1MB", "400x10kB"))
    run, trials = copy_run(study, {"ftp": (1e-8, 2e-3, 0.1)}, 0.01)
    bent = [
        replace(t, metrics=t.metrics | {"elapsed_s": 1.1 * t.metrics["elapsed_s"]})
        if t.factors["dataset"] == "50x1MB"
        else t
        for t in trials
    ]
    (even,) = rows_of(cost_table(RunData(run, trials, study), "copies"))
    (odd,) = rows_of(cost_table(RunData(run, bent, study), "copies"))

    assert float(even["greatest deviation (ratio)"]) < 0.01
    assert 0.01 < float(odd["greatest deviation (ratio)"]) < 0.11
    assert float(even["p, costs are constant"]) > 0.05 > float(odd["p, costs are constant"])
    assert "costs are not constant" in odd["note"] and "not constant" not in even["note"]


def test_unidentified_costs_are_reported_as_such() -> None:
    study = copy_study(["ftp"], _TWO[:1])
    table = cost_table(RunData(*copy_run(study, _COSTS), study), "copies")
    (row,) = rows_of(table)

    assert table.is_for_page
    assert row["per byte (s/B)"] == ""
    assert row["note"] == "not identified: one dataset cannot separate bytes from files"


def test_the_spread_of_simulated_costs_is_one_over_seeds() -> None:
    study = copy_study(["ftp", "smb"], _TWO)
    on = tuple(one.model_copy(update={"on": ("simulated",)}) for one in study.experiment)
    simulated = study.model_copy(update={"experiment": on, "simulation": Simulation()})
    data = RunData(*copy_run(study, _COSTS, 0.01), simulated)
    table = cost_table(data, "copies")
    assert table.title == "Cost per byte and per file, 95 % over seeds"
    assert "per byte, 95 % low over seeds (s/B)" in rows_of(table)[0]
    measured = RunData(*copy_run(study, _COSTS, 0.01), study)
    assert cost_table(measured, "copies").title == "Cost per byte and per file"
    # Without `over_seeds`, a simulated mean has no interval.
    [summary, *_] = data.summaries("copies", "elapsed_s")
    shown = quantity(study, "elapsed_s")
    assert "(0.61" in shown.mean_text(summary, study)
    assert shown.mean_text(summary, simulated) == number(summary.mean or 0.0, 3)
    assert "(0.61" in shown.mean_text(summary, simulated, over_seeds=True)


def test_retries_stalls_caches_and_failed_trials_of_each_condition_are_reported() -> None:
    study = copy_study(["ftp"], _TWO)

    def fails(planned: PlannedTrial) -> bool:
        return planned.number == 0

    run, trials = copy_run(study, _COSTS, fails=fails)
    failed = trials[0].factors["dataset"]
    for trial in trials:
        trial.metrics.update({"retries": 2, "stall_ratio": 0.9} if trial.metrics else {})
    trials = told(trials, faults={"reset": 2, "silent": 0}, stalls=[_STALL])
    table = copy_table(RunData(run, trials, study), "copies")

    by_dataset = {row["dataset"]: row for row in rows_of(table)}
    assert by_dataset[str(failed)]["failed trials"] == "1"
    one = by_dataset["1x62MB"]
    assert one["moved by"] == "FTP, one stream of 256 KiB"
    assert one["caches"] == "caches warm" and one["checked"] == "every byte compared"
    assert (one["retries"], one["faults"]) == ("10", "10 reset")
    assert one["stalls"].startswith("close: delayed acknowledgement (Linux), near 40.1 ms (5 tr")
    assert float(one["greatest share of time in stalls (ratio)"]) == 0.9


def test_page_and_terminal_have_every_copy_table(tmp_path: Path) -> None:
    run, trials = schomer()
    trials = told(trials)
    paths = build_report([(run, trials)], tmp_path / "report")
    page = paths.html.read_text(encoding="utf-8")

    for words in (
        "Published and measured",
        "Cost per byte and per file",
        "How the copies went",
        "every byte compared",
    ):
        assert words in page
    names = {path.name for path in paths.tables}
    assert {
        "schomer-claason-upload-cost.csv",
        "schomer-claason-upload-how.csv",
        "schomer-claason-printed-measured-simulated.csv",
    } <= names
    titles = [str(table.title) for table in tables(RunData(run, trials), Analyses())]
    assert any(title.endswith("cost per byte and per file") for title in titles)
    assert "Published and measured" in titles
