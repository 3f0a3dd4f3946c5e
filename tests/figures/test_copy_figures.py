"""What the figures of copies show, of runs whose costs are known."""

import re
from dataclasses import replace

import numpy as np
import pytest
from copy_runs import copy_run, copy_study

from lanlab.analysis.copies.file_sizes import SIZE_CLASSES, classes_of, size_classes
from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import StoreError
from lanlab.figures.chart import Chart
from lanlab.figures.gather import in_order
from lanlab.figures.registry import build_figure
from lanlab.figures.render_matplotlib import to_bytes, to_drawing
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.series import Series
from lanlab.studies.load import load_study
from lanlab.studies.model import Figure, Study
from lanlab.studies.published import Published

_TWO = ("1x62MB", "200x100kB")
_COSTS = {"ftp": (1e-8, 2e-3, 0.0), "smb": (2e-8, 1e-3, 0.0)}
_FILES = {
    "number": [0, 1, 2],
    "bytes": [1000, 600, 4096],
    "opened_ns": [0, 1000, 2000],
    "closed_ns": [1000, 1600, 4000],
}
_SERVICES = dict.fromkeys(
    ("smb1", "smb1+nbf", "smb1+ipx", "smb1+nbipx", "smb", "nfs", "ftp", "webdav", "sftp"),
    (1e-7, 1e-3, 0.0),
)


def chart(
    figure: str, run: RunRecord, trials: list[TrialRecord], study: Study, **more: str
) -> Chart:
    drawn = Figure(figure=figure, title="Drawn", experiments=("copies",), **more)
    return build_figure(RunData(run, trials, study, Published(schema=1)), drawn)


def test_costs_are_points_with_an_interval_in_each_direction() -> None:
    study = copy_study(["ftp", "smb"], _TWO)
    found = chart("cost_per_byte_and_file", *copy_run(study, _COSTS, 0.02), study)

    by_name = {series.name: series.points[0] for series in found.series}
    assert by_name.keys() == {"FTP", "SMB"}
    ftp = by_name["FTP"]
    assert ftp.x == pytest.approx(2, rel=0.2) and ftp.y == pytest.approx(10, rel=0.05)
    assert ftp.x_low and ftp.x_high and ftp.x_low < 2 < ftp.x_high
    assert ftp.low and ftp.high and ftp.low < 10 < ftp.high
    columns = found.columns()
    assert columns[-2:] == ("cost of a file (ms), 95 % low", "cost of a file (ms), 95 % high")
    assert all(len(row) == len(columns) for row in found.rows())
    svg = to_drawing(found, "x-", 6.4).svg
    assert len(re.findall(r'id="x-series-\d-across0"', svg)) == 2
    assert to_bytes(found, "pdf").startswith(b"%PDF")


def test_unidentified_costs_give_an_empty_figure_with_a_note() -> None:
    study = copy_study(["ftp"], _TWO[:1])
    found = chart("cost_per_byte_and_file", *copy_run(study, _COSTS), study)

    assert found.is_empty
    assert found.description() == "Drawn: no costs could be separated."
    assert "1 of 1 conditions are not drawn: costs not separated." in found.caption


def test_files_are_binned_by_doublings_of_size() -> None:
    found = size_classes(np.array([1, 2, 3, 1023, 1024, 0]), np.array([5, 1, 1, 7, 9, 100]))

    assert [(one.power, one.files, one.octets, one.time_ns) for one in found] == [
        (0, 1, 1, 5),
        (1, 2, 5, 2),
        (9, 1, 1023, 7),
        (10, 1, 1024, 9),
    ]


def with_files(trials: list[TrialRecord]) -> list[TrialRecord]:
    told = [replace(t, raw={"client": {"file_times": {"series": "client-files"}}}) for t in trials]
    columns = {name: np.array(values, dtype=np.int64) for name, values in _FILES.items()}
    return SIZE_CLASSES.added(told, lambda trial, name: Series(name, columns))


def test_goodput_of_files_is_drawn_at_their_mean_size() -> None:
    study = copy_study(["ftp"], ["2x1kB"])
    run, trials = copy_run(study, {"ftp": (1e-8, 0.0, 0.0)})
    found = chart("goodput_against_file_size", run, with_files(trials), study)

    (line,) = found.series
    assert [point.x for point in line.points] == [0.8, 4.096]
    # 1600 octets in 1600 ns, 4096 in 2000 ns.
    assert [point.y for point in line.points] == pytest.approx(
        [8, 16.384]
    ) and found.y.unit == "Gbit/s"
    assert len(line.points[0].trials) == 5
    assert "2 files of 800 B on average" in line.points[0].condition
    assert found.x.logarithmic and [limit.name for limit in found.limits] == ["link limit"]


def test_lost_file_times_leave_only_the_figure_empty() -> None:
    study = copy_study(["ftp"], ["2x1kB"])
    run, trials = copy_run(study, {"ftp": (1e-8, 0.0, 0.0)})

    def lost(trial: TrialRecord, name: str) -> Series:
        raise StoreError("the file is gone")

    told = [replace(t, raw={"client": {"file_times": {"series": "client-files"}}}) for t in trials]
    kept = SIZE_CLASSES.added(told, lost)
    assert not any(classes_of(trial) for trial in kept)
    found = chart("goodput_against_file_size", run, kept, study)
    assert found.description() == "Drawn: no times of files."


def test_copy_rates_are_drawn_above_published_trials() -> None:
    loaded = load_study("schomer-claason")
    run, trials = copy_run(loaded.study, _SERVICES, 0.01)
    figure = loaded.study.figure[0]
    found = build_figure(RunData(run, trials, loaded.study, loaded.published), figure)

    assert figure.figure == "copy_times" and found.sideways
    rows = found.x.categories
    historic = ("SMB 1", "SMB 1 over NetBEUI", "SMB 1 over IPX", "SMB 1 over NetBIOS over IPX")
    assert rows[:9] == (*historic, "SMB", "NFS 3", "FTP", "WebDAV", "SFTP")
    assert rows[9] == "published: TCP/IP, Windows 98 SE" and len(rows) == 15
    assert [len(series.points) for series in found.series] == [9, 9]
    assert all(len(point.trials) == 5 for series in found.series for point in series.points)
    assert [one.name for one in found.published] == [
        "1 file of 623 MB",
        "198 files",
    ]
    # All that came down: five trials of six conditions, one lost of each of three.
    assert [len(one.marks) for one in found.published] == [27, 27]
    assert to_bytes(found, "svg")
    # 623 MB in 263 s and 6.23 MB in a half are 19 and 81 Mbit/s: amounts differ, rates compare.
    assert (found.y.unit, found.y.logarithmic) == ("Mbit/s", False)
    first = found.published[0].marks[0]
    assert first.y == pytest.approx(8 * 623 / 263)
    assert "263" in first.printed and first.printed.endswith(", in s")
    assert all(1 < mark.y < 100 for one in found.published for mark in one.marks)
    timed = figure.model_copy(update={"metric": "elapsed_ns"})
    times = build_figure(RunData(run, trials, loaded.study, loaded.published), timed)
    assert times.published[0].marks[0].y == 263
    assert "Times of different amounts do not compare" in times.caption


def test_equal_amounts_of_both_tests_share_a_name() -> None:
    loaded = load_study("brutman-mtcp")
    run, trials = copy_run(loaded.study, {"ftp": (8.6e-7, 5e-3, 0.0)}, 0.01)
    found = build_figure(
        RunData(run, trials, loaded.study, loaded.published), loaded.study.figure[0]
    )

    assert [series.name for series in found.series] == [
        "260,163 B", "1,376,275 B", "3,239,589 B", "4,194,304 B",
    ]  # fmt: skip
    assert [len(series.points) for series in found.series] == [3, 3, 3, 3]
    assert len(found.published) == 4


def test_datasets_are_ordered_by_file_size() -> None:
    study = copy_study(["ftp", "smb"], ("1x62MB", "200x100kB", "many-small"))
    found = chart("copy_times", *copy_run(study, _COSTS, 0.02), study)
    names = [one.name for one in found.series]
    assert names == ["1000 files of 6 kB", "200 files of 100 kB", "one file of 62 MB"]
    assert in_order(["1x62MB", "dir:/tmp", "many-small"]) == ["1x62MB", "dir:/tmp", "many-small"]
