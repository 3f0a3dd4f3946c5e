"""`lanlab compare`: every option, what it refuses, and what its page holds."""

import csv
import io
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Lanlab
from kept_runs import Run, keep
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.store import RunRecord, TrialRecord, open_store


def kept(*runs: Run) -> list[str]:
    keep(Path("lanlab-results", "store.sqlite"), runs)
    return [run.id for run, _ in runs]


def again(
    found: SyntheticRun, name: str, factor: float = 1.0, **changes: object
) -> tuple[RunRecord, list[TrialRecord]]:
    """The run once more, as if goodputs were by a factor greater, and a little otherwise."""
    run = replace(found.run, id=f"{name}-run", **changes)  # type: ignore[arg-type]
    trials = []
    for trial in found.trials:
        metrics = dict(trial.metrics)
        if "goodput_bps" in metrics:
            metrics["goodput_bps"] *= factor * (1 + 0.0005 * (trial.number % 3))
        trials.append(replace(trial, run_id=run.id, metrics=metrics))
    return run, trials


@pytest.fixture(scope="module")
def manford() -> SyntheticRun:
    return synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)


@pytest.fixture(scope="module")
def stored(manford: SyntheticRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the same study twice, the second 12 % faster, with another engine; then with one
    that is alike, with another study, and with a small run."""
    place = tmp_path_factory.mktemp("compare") / "store.sqlite"
    versions = {**manford.run.versions, "lanlab-engine": "0.2.0"}
    runs = [
        again(manford, "first"),
        again(manford, "second", 1.12, versions=versions),
        again(manford, "alike"),
        again(synthetic_run("brutman-mtcp"), "other"),
        again(synthetic_run("manford-kolahi"), "tiny"),
    ]
    keep(place, runs)
    return place


@pytest.fixture
def two(folder: Path, stored: Path) -> list[str]:
    """The first two of that store, which is the one of the test's folder."""
    own = folder / "lanlab-results" / "store.sqlite"
    own.parent.mkdir()
    shutil.copy(stored, own)
    return ["first-run", "second-run"]


def test_a_sentence_states_the_speedup_at_each_condition(two: list[str], lanlab: Lanlab) -> None:
    said = lanlab("compare", *two, "--metric", "goodput_bps")

    assert said.code == 0 and said.err == ""
    sentences = re.findall(
        r"RUN2 was (\S+) % \((\S+) … (\S+) %\) faster than RUN1 at (IPv\d, \S+ B) in these runs\.",
        said.out,
    )
    assert len(sentences) == 14
    for size, low, high, _ in sentences:
        assert float(low) < 12 < float(high) and float(size) == pytest.approx(12, abs=0.3)
    assert "14 comparisons of RUN2 with RUN1: 14 different in these runs, cause unknown." in (
        said.out
    )
    assert "One run of each cannot show whether a setting or the run itself" in said.out
    assert "corrected for all 14 comparisons together (Holm's method, 5 %)" in said.out
    assert re.search(r"version of lanlab-engine\s+0\.1\.0\s+0\.2\.0", said.out)
    assert "1 fact differs" in said.out


def test_json_and_csv_agree_at_full_precision(two: list[str], lanlab: Lanlab) -> None:
    answer = lanlab("compare", *two, "--json").json()
    rows = list(csv.DictReader(io.StringIO(lanlab("compare", *two, "--csv").out)))

    assert len(answer["comparisons"]) == len(rows) == 28
    for one, row in zip(answer["comparisons"], rows, strict=True):
        assert one["effect"] == float(row["effect"])
        assert one["p_holm"] == (float(row["p, Holm"]) if row["p, Holm"] else None)
        assert (one["metric"], one["verdict"]) == (row["metric"], row["verdict"])
    first = answer["comparisons"][0]
    assert first["factors"] == {"ip_version": 4, "message_size_bytes": 128}
    assert first["base_n"] == 5 and first["design"] == "unpaired"
    assert answer["facts"] == {"version of lanlab-engine": ["0.1.0", "0.2.0"]}
    assert [run["run"] for run in answer["runs"]] == two


def test_another_run_can_be_the_base(two: list[str], lanlab: Lanlab) -> None:
    answer = lanlab("compare", *two, "--base", two[1], "--json").json()

    assert answer["base"] == "RUN2"
    assert {(one["base"], one["other"]) for one in answer["comparisons"]} == {("RUN2", "RUN1")}
    goodputs = [one for one in answer["comparisons"] if one["metric"] == "goodput_bps"]
    assert all(one["effect"] < 1 and one["better"] is None for one in goodputs)


@pytest.mark.parametrize("margin", ["15%", "15 %", "0.15"])
def test_a_margin_decides_that_there_is_no_difference(
    margin: str, two: list[str], lanlab: Lanlab
) -> None:
    ids = [two[0], "alike-run"]
    levels = ("compare", ids[0], "--by", "ip_version", "--metric", "goodput_bps")

    said = lanlab(*levels, "--margin", margin)

    assert re.search(r"No difference within 15 % between IPv6 and IPv4 at 640 B: IPv6", said.out)
    assert "No difference within" not in lanlab(*levels).out
    assert "No difference within" not in lanlab("compare", *ids, "--margin", margin).out


def test_levels_of_a_factor_are_compared_within_one_run(two: list[str], lanlab: Lanlab) -> None:
    said = lanlab("compare", two[0], "--by", "ip_version", "--metric", "goodput_bps")

    assert "7 comparisons of IPv6 with IPv4: 7 worse." in said.out
    assert "one after another" not in said.out
    answer = lanlab("compare", two[0], "--by", "ip_version", "--base", "6", "--json").json()
    assert {(one["base"], one["other"]) for one in answer["comparisons"]} == {("IPv6", "IPv4")}
    assert {one["design"] for one in answer["comparisons"]} == {"by block"}


def test_a_run_is_compared_with_published_numbers(two: list[str], lanlab: Lanlab) -> None:
    said = lanlab("compare", two[0], "--published")

    assert said.code == 0
    assert re.search(
        r"The throughput at IPv4, 384 B is 1\.0\d+ \(1\.0\d+ … 1\.0\d+\) times the published "
        r"“79\.8 Mbps” \(Windows XP\)\.",
        said.out,
    )
    answer = lanlab("compare", two[0], "--published", "--json").json()
    by_id = {one["published_id"]: one for one in answer["comparisons"]}
    assert by_id["p.xp.ipv4.384"]["published_sd"] == 750_000
    assert by_id["p.xp.ipv4.384"]["interval_has_their_spread"] is True
    assert by_id["p.xp.ipv4.384"]["unit"] == "bit/s"
    name = by_id["p.xp.ipv4.384"]["published_name"]
    assert name == "throughput, UDP, Windows XP, IPv4, 384 B"
    assert all(one["value"] / one["published_si"] == one["ratio"] for one in by_id.values())
    only = lanlab("compare", two[0], "--published", "--metric", "rtt_mean_ns", "--csv").out
    rows = list(csv.DictReader(io.StringIO(only)))
    assert {row["metric"] for row in rows} == {"rtt_mean_ns"}
    assert [row["published"] for row in rows] == ["14.1ms", "12.3ms"]


def test_the_page_opens_offline_and_has_a_figure_for_each_metric(
    two: list[str], folder: Path, lanlab: Lanlab
) -> None:
    said = lanlab("compare", *two, "--margin", "2%", "--report", "deep/beside.html")

    assert said.err == f"wrote {Path('deep/beside.html')}\n"
    page = (folder / "deep/beside.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("<figure ") == 2
    assert "RUN2 / RUN1" in page and "margin" in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "content=\"default-src 'none'" in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    beside = lanlab("compare", two[0], "--published", "--report", "published.html")
    assert beside.code == 0
    text = (folder / "published.html").read_text(encoding="utf-8")
    assert text.count("<figure ") == 2 and "measured / published" in text


def test_unfinished_failed_and_disturbed_trials_are_reported(folder: Path, lanlab: Lanlab) -> None:
    whole = synthetic_run("manford-kolahi")
    part = synthetic_run(
        "manford-kolahi", most_trials=11, fails=lambda planned: planned.number == 2
    )
    ids = kept(again(whole, "whole"), again(part, "part"))

    said = lanlab("compare", *ids)

    assert said.code == 0
    assert "RUN2 is interrupted: only the trials that had ended are shown." in said.out
    assert "RUN2: 1 of 11 trials failed and are in no mean." in said.out
    assert "no interval" in said.out and "one trial of RUN2" in said.out


def test_a_real_run_can_be_compared_with_the_next(folder: Path, lanlab: Lanlab) -> None:
    ids = [
        lanlab("run", "small.toml", "--testbed", "loopback", "--json").json()["run"] for _ in "ab"
    ]

    answer = lanlab("compare", *ids, "--json").json()

    assert len(answer["comparisons"]) == 3
    assert answer["not_compared"] == []
    assert all(one["base_n"] == one["other_n"] == 2 for one in answer["comparisons"])
    by_size = lanlab("compare", "last", "--by", "message_size_bytes", "--json").json()
    assert [one["other"] for one in by_size["comparisons"]] == ["100 B"]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("compare", "nothing", "second-run"), "no run named `nothing`"),
        (("compare", "first-run"), "nothing to compare first-run with"),
        (("compare", "first-run", "first-run"), "run first-run is listed twice"),
        (("compare", "first-run", "other-run"), "different studies"),
        (
            ("compare", "first-run", "second-run", "--base", "other-run"),
            "is not one of the runs to compare",
        ),
        (("compare", "first-run", "second-run", "--metric", "goodputs"), "no metric"),
        (("compare", "first-run", "second-run", "--margin", "5"), "--margin: found `5`"),
        (("compare", "first-run", "second-run", "--margin", "x%"), "--margin: found `x%`"),
        (("compare", "first-run", "second-run", "--json", "--csv"), "cannot be used together"),
        (("compare", "first-run", "second-run", "--by", "io"), "--by takes one run"),
        (("compare", "first-run", "--by", "io"), "no factor named `io`"),
        (("compare", "first-run", "--by", "ip_version", "--base", "5"), "no level named `5`"),
        (("compare", "first-run", "second-run", "--published"), "--published takes one run"),
        (("compare", "first-run", "--published", "--by", "ip_version"), "cannot be used with --by"),
        (("compare", "first-run", "--published", "--margin", "2%"), "cannot be used with --margin"),
        (("compare", "tiny-run", "--published"), "published no mean at any condition"),
    ],
)
def test_incomparable_runs_are_refused_with_a_reason(
    args: tuple[str, ...],
    reason: str,
    two: list[str],
    lanlab: Lanlab,
) -> None:
    said = lanlab(*args)

    assert (said.code, said.out) == (2, "")
    assert reason in said.err and "hint: " in said.err


def test_a_page_that_cannot_be_written_is_an_error(
    two: list[str], folder: Path, lanlab: Lanlab
) -> None:
    (folder / "file").write_text("")
    said = lanlab("compare", *two, "--report", "file/page.html")
    assert said.code == 1 and "could not be written" in said.err


def test_malformed_runs_hide_no_comparison_of_others(
    two: list[str], lanlab: Lanlab, manford: SyntheticRun
) -> None:
    bad = (
        again(manford, "timeless", started_at="soon"),
        again(manford, "blank", study={"schema": 1}),
    )
    with open_store(None) as records:
        for run, trials in bad:
            records.start_run(run).release()
            for trial in trials:
                records.commit_trial(trial)
    assert lanlab("compare", *two).code == 0

    said = lanlab("compare", two[0], "blank-run")
    assert said.code == 1
    assert "are malformed: ValidationError" in said.err
