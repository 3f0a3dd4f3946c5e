"""The chapter on what the study found and whether it holds here."""

import csv
import html
import re
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_runs import synthetic_run
from undrawn import nothing_drawn

from lanlab.analysis.findings.judge import judge_published, judge_run
from lanlab.analysis.trials.run_data import RunData
from lanlab.report.findings.finding_text import (
    _pair,
    comparison_text,
    evidence_lines,
    here_text,
    verdict_text,
)
from lanlab.report.runs.build import build_report
from lanlab.studies.load import load_study


@pytest.fixture(scope="module")
def chapter(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Of a run with all sizes and three trials each on a link of 100 Mbit/s."""
    folder = tmp_path_factory.mktemp("report")
    run = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    with nothing_drawn():
        paths = build_report([run.pair()], folder)
    text = paths.html.read_text(encoding="utf-8")
    own = text.partition('id="manford-kolahi-findings"')[2].partition("</section>")[0]
    return html.unescape(own).replace("\N{NO-BREAK SPACE}", " "), folder


def test_every_finding_is_listed_with_its_verdict(chapter: tuple[str, Path]) -> None:
    text, _ = chapter

    assert "What the study found and whether it holds here" in text
    rows = re.findall(r'"note">(\S+?)</span> (.*?)<br><strong>(.*?)</p>', text, re.DOTALL)
    findings = load_study("manford-kolahi").findings
    assert sorted(row[0] for row in rows) == sorted(finding.id for finding in findings)
    # What this run says nothing of is one folded line.
    told, untold = re.split(r"<summary>\d+ not tested in this run</summary>", text)
    assert "<strong>not tested</strong></p>" not in told.partition('class="findings"')[2]
    assert 'class="note">f6<' in untold
    verdicts = {name: verdict.replace("</strong>", "") for name, _, verdict in rows}
    assert "16 of them are about one other system only. Of this system, 2 hold, " in text
    assert verdicts["f6"] == "not tested"
    assert verdicts["f16"] == (
        "not tested; on this system, in place of Windows Vista SP1: undecided, though the means "
        "agree"
    )
    assert verdicts["f15"].endswith("on this system, in place of each operating system: holds")
    assert verdicts["f1.vista.ipv4"].endswith("does not hold")


def test_the_numbers_are_kept_next_to_the_page(chapter: tuple[str, Path]) -> None:
    _, folder = chapter
    with (folder / "tables" / "manford-kolahi-finding-comparisons.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))

    own = [row for row in rows if row["finding"] == "f16"]
    assert len(own) == 1
    assert own[0]["on"] == "this system"
    assert float(own[0]["low"]) < float(own[0]["value"]) < float(own[0]["high"])
    assert 0 < float(own[0]["p"]) <= float(own[0]["p_holm"]) <= 1
    assert (own[0]["claimed_least"], own[0]["claimed_most"]) == ("0.9766", "0.9966")
    assert own[0]["trials"] == "5 5"


def test_a_study_without_findings_gets_no_findings_chapter(tmp_path: Path) -> None:
    run = synthetic_run("manford-kolahi")
    record = replace(run.run, study_id="my-own")
    paths = build_report([(record, run.trials)], tmp_path)

    assert "whether it holds here" not in paths.html.read_text(encoding="utf-8")
    assert not [path for path in paths.tables if "finding" in path.name]


def test_undecided_is_reported_with_the_trials_and_the_time_that_would_decide() -> None:
    run = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    found = judge_run(load_study("manford-kolahi").findings, RunData(run.run, run.trials))
    here = next(one for one in found.judgements if one.finding.id == "f16").here

    assert here is not None and here.further is not None
    assert here.verdict == "undecided"
    assert here.further.minutes == pytest.approx(here.further.trials / 120)
    assert evidence_lines(here, run.study)[-1] == (
        f"about {here.further.trials} more trials would decide it (up to "
        f"{here.further.trials_per_condition} of a condition, less than a minute)"
    )


def test_a_comparison_is_reported_with_interval_test_effect_and_trials() -> None:
    run = synthetic_run("manford-kolahi", "full", link_rate_bps=100_000_000)
    found = judge_run(load_study("manford-kolahi").findings, RunData(run.run, run.trials))
    f16 = next(one for one in found.judgements if one.finding.id == "f16")

    assert (f16.verdict, verdict_text(f16)) == ("not tested", "not tested")
    assert f16.here is not None
    assert here_text(f16, run.study) == "on this system, in place of Windows Vista SP1: holds"
    [one] = f16.here.comparisons
    text = comparison_text(one, run.study)
    assert text.startswith(
        "throughput: the greatest of IPv6 (at packet size 1,408 B among those tried) is 0.98"
    )
    assert "claimed 0.9766 to 0.9966: holds (Student's t by block, p " in text
    assert "40 trials each" in text


def test_evidence_can_be_read_without_the_code() -> None:
    """By its form: a ratio, a ratio of ratios, a difference, a share."""

    def told(study: str, name: str) -> list[str]:
        loaded = load_study(study)
        [one] = [j for j in judge_published(loaded).judgements if j.finding.id == name]
        return evidence_lines(one, loaded.study)

    assert told("brutman-mtcp", "f1")[0] == (
        "rate with AMD 80386-40, Xircom (parallel port), receiving: FTP is 1.390 "
        "\N{MULTIPLICATION SIGN} memory to memory (rounding allows 1.389 … "
        "1.391); claimed below 1: does not hold (means only)"
    )
    assert told("milanovic-srbljic", "f12")[0] == (
        "receiving speed with UDP, Windows NT 4.0 Workstation: Celeron A 300 / 486 DX2-66 is 2.941 "
        "\N{MULTIPLICATION SIGN} as large with message size 500 B as with message size 2 B "
        "(rounding allows 2.057 … 4.291); claimed below 1: does not hold (means only)"
    )
    assert told("manford-kolahi", "f7")[0].startswith(
        "throughput with UDP, IPv6, packet size 384 B: Windows Vista SP1 minus Windows XP is 10.30 "
        "Mbit/s (9.616 … 10.98 Mbit/s); claimed 9.8 to 10.8 Mbit/s: neither shown nor refuted ("
    )
    assert told("milanovic-srbljic", "f4")[0].startswith(
        "receiving speed with UDP, Windows NT 4.0 Workstation, message size 2 B, as a share of the "
        "link: the greatest is 20.2 % (rounding allows 18.5 … 21.8 %); claimed at least 50 %: "
    )


def test_two_sides_of_a_pair_share_their_other_levels() -> None:
    extremes = (
        "the greatest of transport udp, os linux (at rate_bps 8000 among those tried)",
        "the greatest of os nt4, transport udp",
    )
    said = _pair(*extremes, "ratio", None)
    assert said == ("the greatest of os linux / the greatest of os nt4", "transport udp")
