"""Which protocol is fastest by print, by a measured run and by a simulated one, and their table."""

import csv
import io
from dataclasses import replace

import pytest
from copy_runs import copy_run
from synthetic_runs import synthetic_run

from lanlab.analysis.findings.judge import judge_published, judge_run
from lanlab.analysis.trials.run_data import RunData
from lanlab.report.answer.question import question_answers
from lanlab.report.findings.finding_text import verdict_text
from lanlab.report.published.values_table import values_table
from lanlab.report.runs.build import build_report
from lanlab.studies.base import Level
from lanlab.studies.load import load_study
from lanlab.studies.runs_on import RunsOn, study_on

_STUDY = load_study("schomer-claason")
#: Seconds a byte, a file and a trial: TCP/IP is the fastest, but for files over IPX.
_COSTS = {
    "smb1": (1e-7, 0.1, 0.0),
    "smb1+nbf": (2e-7, 0.12, 0.0),
    "smb1+ipx": (3e-7, 0.01, 0.0),
    "smb1+nbipx": (2e-7, 0.11, 0.0),
}


def _run(where: RunsOn, scale: str) -> RunData:
    study = study_on(_STUDY.study, where, scale)
    run, trials = copy_run(study, _COSTS, 0.003, scale=scale)
    return RunData(replace(run, id=where), trials)


@pytest.fixture(scope="module")
def runs() -> list[RunData]:
    return [_run("real", "transports"), _run("simulated", "quick")]


def test_published_conditions_are_shown_with_the_transport_of_their_system(
    runs: list[RunData],
) -> None:
    """NWLink of Windows 98 is IPX alone, that of Windows 2000 is NetBIOS over it."""
    rows = list(csv.DictReader(io.StringIO(values_table(_STUDY.published, runs).to_csv())))
    assert len(rows) == 12
    nwlink = [row for row in rows if row["protocol"].startswith("NWLink")]
    # One large file: 27 Mbit/s over IPX, at most 40 over NetBIOS.
    large = [row for row in nwlink if "1 file" in row["dataset"]]
    for body in ("2 measured", "1 simulated"):
        found = [float(row[f"{body} (bit/s)"]) for row in large]
        assert found == pytest.approx([26.6e6, 38e6], rel=0.05)
    # One large file over TCP/IP: 80 Mbit/s but for 0.1 s to open it.
    tcpip = [row for row in rows if row["protocol"] == "TCP/IP" and "1 file" in row["dataset"]]
    rates = [float(row["2 measured (bit/s)"]) for row in tcpip]
    assert rates == pytest.approx([78.7e6] * 2, rel=0.01)
    assert {row["printed (bit/s)"] for row in tcpip} == {"19000000.0", "61000000.0"}


def test_the_answer_has_published_simulated_and_measured_values(runs: list[RunData]) -> None:
    measured, simulated, printed = question_answers(_STUDY, runs)
    assert [one.kind for one in (printed, simulated, measured)] == [
        "published",
        "simulated",
        "measured",
    ]
    # As the printed trials have it (docs/studies.md): one of the four is not shown.
    assert [level for _, level, _ in printed.found] == ["tcpip", "nwlink", "tcpip", "tcpip"]
    assert [is_shown for *_, is_shown in printed.found] == [False, True, True, True]
    large, many = "one-large-file", "many-small-files"
    assert {at["dataset"] for at, *_ in printed.found} == {large, many}
    # A run names the data sets that it copied itself.
    large, many = "1x6230kB", "198x100B..400kB=4720kB"
    expected: dict[tuple[Level, Level], Level] = {
        ("w98se", large): "tcpip",
        ("w98se", many): "nwlink",
        ("w2ksp2", large): "tcpip",
        ("w2ksp2", many): "tcpip",
    }
    found = {(at["os"], at["dataset"]): level for at, level, _ in simulated.found}
    assert found == expected
    # Here there is one system, which is none of the published ones, and a tenth of the bytes.
    assert [one[:2] for one in measured.found] == [
        ({"dataset": "1x62300kB"}, "tcpip"),
        ({"dataset": "198x1kB..4MB=47200kB"}, "nwlink"),
    ]
    assert all(is_shown for *_, is_shown in measured.found)
    assert measured.brief == (
        "Aside, this computer (not a Windows PC, 5 trials each, 10.0 % of the published bytes): "
        "TCP/IP with one file of 62.3 MB; NWLink (IPX/SPX) with 198 files of 1 kB to 4 MB, 47.2 MB "
        "together."
    )
    # Of some of the model's conditions the difference is within its error, or that is not known.
    assert not all(is_shown for *_, is_shown in simulated.found)
    assert "no order shown" in simulated.brief


def test_rates_of_smaller_files_are_marked(runs: list[RunData]) -> None:
    """A hundredth of the bytes in as many files is another workload; in one file, a shorter one."""
    table = values_table(_STUDY.published, runs)
    texts = {cell.text for row in table.rows for cell in row}
    assert any(text.endswith(", of 4.72 MB, smaller files") for text in texts)
    assert any(text.endswith(", of 6.23 MB") for text in texts)


def test_without_a_run_of_the_protocols_no_table_is_shown() -> None:
    study = study_on(_STUDY.study, "real", "tiny")
    other = copy_run(study, dict.fromkeys(("nfs", "ftp"), (1e-7, 1e-3, 0.0)), scale="tiny")
    assert values_table(_STUDY.published, [RunData(*other)]).rows == ()


def test_a_report_of_both_runs_begins_with_the_answer_and_has_the_table(
    runs: list[RunData], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("report")
    found = build_report([(one.run, list(one.trials)) for one in runs], folder)
    (overview,) = found.overviews
    by, sentences = overview.answers[0]
    assert by == "The answer" and len(sentences) == 3
    assert overview.conditions and overview.in_full
    assert overview.values.rows
    assert any(path.name.endswith("printed-measured-simulated.csv") for path in found.tables)


def test_the_fastest_protocol_is_judged_on_all_evidence(
    runs: list[RunData],
) -> None:
    printed = judge_published(_STUDY)
    measured, simulated = (judge_run(_STUDY.findings, run) for run in runs)
    on_print, here, of_a_model = (
        next(one for one in body.judgements if one.finding.id == "f10")
        for body in (printed, measured, simulated)
    )
    assert (on_print.verdict, on_print.means) == ("undecided", "holds")
    assert here.verdict == "not tested" and here.here is not None
    assert here.here.verdict == "holds"
    # The means differ by less than the model's error of times.
    assert (of_a_model.verdict, of_a_model.means) == ("undecided", "holds")
    assert verdict_text(of_a_model).endswith(
        ": the means agree, but the model may err by a factor of 2.24"
    )


def test_values_of_conditions_that_differ_in_their_factors_share_a_table() -> None:
    """Only the speed test of mTCP has an amount and a transport; a run of this system has none of
    its machines."""
    here = synthetic_run("brutman-mtcp", "quick", where="real")
    simulated = synthetic_run("brutman-mtcp", "quick", where="simulated")
    found = values_table(here.published, [RunData(*here.pair()), RunData(*simulated.pair())])
    assert found.title == "Published and simulated"
    headings = [column.heading for column, _ in found.shown()]
    assert headings[:4] == ["test", "machine", "adapter", "direction"]
