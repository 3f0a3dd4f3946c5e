"""Which service is fastest, for what: the sentence and the rows that trials give."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from answered import sentences

from lanlab.analysis.links.limits import tcp_limit_bps
from lanlab.nas import plan
from lanlab.report.answer.purposes import Purposes, purposes_of
from lanlab.report.document.fitted import fitted
from lanlab.report.document.table import Table
from lanlab.store import RunRecord, TrialRecord

URLS = {"SMB": "smb://me@nas/data", "SFTP": "sftp://me@nas/", "NFS 3": "nfs://nas/volume"}
TASKS = plan.tasks(plan.USUAL, plan.Speed(80e6, 200), 3)
SPREAD = (0.99, 1.0, 1.01, 1.0, 0.995)


def run_of(
    rates: Mapping[str, Mapping[str, float]],
    spread: Sequence[float] = SPREAD,
    exchanges: Mapping[str, float] | None = None,
    more: Callable[[int], Mapping[str, float]] = lambda block: {},
    link_rate_bps: float | None = None,
    raw: Mapping[str, object] = MappingProxyType({}),
) -> tuple[RunRecord, list[TrialRecord]]:
    """Rates by task or by kind of files; a service without a rate has no result."""
    targets = [URLS[name] for name in next(iter(rates.values()))]
    study = plan.study("nas", targets, TASKS, len(spread), {})
    run = RunRecord(
        id="r",
        study_id="nas",
        study=study,
        scale="single",
        seed=1,
        testbed={
            "name": "loopback",
            "link": {"text": "unshaped", "rate_bps": None},
            "link_rate_bps": link_rate_bps,
        },
        versions={},
        status="done",
        started_at="2026-01-01T00:00:00+00:00",
    )
    trials: list[TrialRecord] = []
    for task in TASKS:
        files = task.id.partition("-")[0]
        for block, factor in enumerate(spread):
            of_files = rates.get(task.id) or rates.get(files, rates["small"])
            for place, (name, rate) in enumerate(of_files.items()):
                counted = {"exchanges_per_file": exchanges[name]} if exchanges else {}
                if not rate:
                    continue
                value = rate * factor * (1 + 0.002 * ((block * 7 + place * 3) % 5))
                trials.append(
                    TrialRecord(
                        run_id="r",
                        number=len(trials),
                        experiment=task.id,
                        workload=task.workload,
                        factors={"server": URLS[name]},
                        parameters={},
                        block=block,
                        purpose="trial",
                        status="done",
                        started_at="2026-01-01T00:00:00+00:00",
                        elapsed_s=1.0,
                        metrics={task.metric: value, **counted, **more(block)},
                        raw=dict(raw),
                        error=None,
                    )
                )
    return run, trials


def found(*given: Any, **more: Any) -> Purposes:
    return purposes_of(*run_of(*given, **more))


def shown(table: Table) -> list[str]:
    return [line for line, _ in fitted(replace(table, title=""), 200)]


def test_one_service_that_wins_everything_is_named() -> None:
    answer = found({"large": {"SMB": 100, "NFS 3": 80}, "small": {"SMB": 100, "NFS 3": 50}})
    assert answer.sentence == "Use SMB: nothing else was shown to be faster in any of 10 tests."
    row = next(row for row in answer.table.rows if row[0].text.startswith("one large file, upload"))
    assert row[1].text == "SMB"
    assert row[2].text.startswith("NFS 3 20 % slower (")


def test_the_answer_counts_disturbed_trials() -> None:
    same = {"SMB": 100.0, "NFS 3": 100.0}
    disturbed = {"pollution": {"findings": [{"repeat_helps": True}]}}
    answer = found({"large": same, "small": same}, raw=disturbed)
    said = "No difference was shown between SMB and NFS 3: use any."
    assert answer.sentence == said and answer.disturbed == "100 of 100 trials were disturbed."


def test_a_run_of_nas_opens_with_the_answer_and_names_each_task() -> None:
    run, trials = run_of({"large": {"SMB": 80e6, "SFTP": 60e6}, "small": {"SMB": 9.0, "SFTP": 5.0}})
    first, *others = sentences(run, trials)

    assert first == purposes_of(run, trials).sentence
    assert len(set(others)) == len(others)
    assert not any("server smb:" in one for one in others)


def test_equal_services_are_not_ordered() -> None:
    same = {"SMB": 100.0, "NFS 3": 100.0, "SFTP": 100.0}
    answer = found({"large": same, "small": same})
    assert answer.sentence == "No difference was shown between SMB, NFS 3 and SFTP: use any."
    assert {row[2].text for row in answer.table.rows} == {"none"}


def test_services_are_ranked_by_purpose() -> None:
    answer = found({"large": {"SMB": 100, "NFS 3": 80}, "small": {"SMB": 50, "NFS 3": 100}})
    assert answer.sentence == (
        "Fastest: for large files SMB; for many small files NFS 3; for creating and removing files "
        "NFS 3."
    )


def test_json_names_the_fastest_of_each_purpose() -> None:
    answer = found(
        {"large": {"SMB": 100, "NFS 3": 80}, "small": {"SMB": 100, "NFS 3": 50}}
    ).to_json()
    assert len(answer["purposes"]) == 10
    assert all(one["fastest"] == [URLS["SMB"]] for one in answer["purposes"])


@pytest.mark.parametrize("spread", [(1.0,)])
def test_single_trials_give_no_ranking(spread: Sequence[float]) -> None:
    answer = found({"large": {"SMB": 100, "NFS 3": 80}, "small": {"SMB": 50, "NFS 3": 100}}, spread)
    assert answer.sentence.startswith("No ranking")
    assert {row[1].text for row in answer.table.rows} == {"not tested"}


def test_round_trips_of_a_small_file_explain_the_order() -> None:
    same = {"SMB": 100.0, "NFS 3": 100.0, "SFTP": 100.0}
    needs = {"SMB": 3.0, "NFS 3": 4.0, "SFTP": 3.0}
    answer = found({"large": same, "small": same}, exchanges=needs)
    ways = "; ".join(f"{way}: 3 over SMB and SFTP, 4 over NFS 3" for way in ("upload", "download"))
    assert answer.why == answer.to_json()["why"] == f"Round trips for each small file, {ways}."
    assert found({"large": same, "small": same}).why == ""


def test_the_time_of_a_file_is_explained_for_each_service_and_copy_by_one_user() -> None:
    explained = {
        "waits": 30,
        "response_mean_s": 1e-3,
        "waiting_s": 0.03,
        "moving_s": 0.016,
        "explained_ratio": 0.92,
        "copied_files": 10,
        "copied_bytes": 160_000,
    }
    answer = found(
        {"large": {"SMB": 1.0, "NFS 3": 1.0}, "small": {"SMB": 1.0, "NFS 3": 1.0}},
        # The median trial counts.
        more=lambda block: {**explained, "elapsed_s": (0.07, 0.01, 0.09, 0.03, 0.05)[block]},
    )
    assert shown(answer.reasons)[0].rstrip() == (
        "for what                              service  time of each file"
    )
    assert answer.reasons.to_csv().splitlines()[0] == "purpose,service,time"
    rows = [[cell.text for cell in row] for row in answer.reasons.rows]
    assert [row[:2] for row in rows] == [
        [f"{files}, {way}, 1 client", service]
        for files in ("one large file", "many small files")
        for way in ("upload", "download")
        for service in ("SMB", "NFS 3")
    ]
    assert {row[2].partition(" = ")[2] for row in rows} == {"4.60 ms of 5.00 ms (92 %)"}


WIRE_BPS = tcp_limit_bps(100e6, 4)
ALIKE = {"SMB": 100.0, "NFS 3": 100.0, "SFTP": 50.0}


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ({"large": ALIKE, "small": ALIKE},
         "Use SMB and NFS 3: no difference between them was shown, and nothing was faster."),
        # Fast in one task of a kind is not fast in all of them.
        ({"large": ALIKE, "small": {"SMB": 50.0, "NFS 3": 100.0, "SFTP": 50.0},
          "large-download-8": {"SMB": 100.0, "NFS 3": 50.0, "SFTP": 50.0}},
         "Fastest: for large files SMB; for many small files NFS 3; for creating and removing "
         "files NFS 3."),
        ({"small": {"SMB": 100.0, "NFS 3": 50.0}, "large": {"SMB": 100.0, "NFS 3": 50.0},
          "metadata-8": {"SMB": 50.0, "NFS 3": 100.0}},
         "Fastest: for large files SMB; for many small files SMB; for creating and removing files "
         "it depends, see the table."),
        # Without a result there is no fastest service.
        ({"small": {"SMB": 0.0, "NFS 3": 0.0}, "large": {"SMB": 100.0, "NFS 3": 50.0},
          "metadata": {"SMB": 50.0, "NFS 3": 100.0}},
         "Fastest: for large files SMB; for many small files not known; for "
         "creating and removing files NFS 3."),
        # A difference in one task is enough not to call them alike.
        ({"large": {"SMB": 100.0, "NFS 3": 100.0}, "small": {"SMB": 100.0, "NFS 3": 100.0},
          "large-upload-1": {"SMB": 100.0, "NFS 3": 50.0}},
         "Use SMB: nothing else was shown to be faster in any of 10 tests."),
        ({"large": {"SMB": 100.0}, "small": {"SMB": 100.0}},
         "No ranking: it takes two services with two trials each."),
        ({"large": {"SMB": 0.0, "NFS 3": 0.0}, "small": {"SMB": 0.0, "NFS 3": 0.0}},
         "No ranking: it takes two services with two trials each."),
        # A service that failed a task is not the one to use for it, nor for everything.
        ({"large": {"SMB": 100.0, "NFS 3": 50.0}, "small": {"SMB": 0.0, "NFS 3": 100.0}},
         "Fastest: for large files SMB; for many small files NFS 3; for creating and removing "
         "files NFS 3."),
        ({"large": {"SMB": 100.0, "NFS 3": 100.0}, "small": {"SMB": 0.0, "NFS 3": 100.0}},
         "Use NFS 3: nothing else was shown to be faster in any of 4 tests."),
    ],
)  # fmt: skip
def test_the_answer_is_true_of_every_task_of_its_kind(
    rates: Mapping[str, Mapping[str, float]], said: str
) -> None:
    assert found(rates).sentence == said


def test_the_table_has_the_others_and_what_has_no_result() -> None:
    """Texts stand at the left, and at the limit of the network there is no order."""
    whole = {"SMB": 0.985 * WIRE_BPS, "NFS 3": 0.985 * WIRE_BPS, "SFTP": 0.7 * WIRE_BPS}
    rates = {
        "large": whole,
        "small": {"SMB": 100.0, "NFS 3": 0.0, "SFTP": 40.0},
        "large-upload-1": {"SMB": 100.0, "NFS 3": 100.0, "SFTP": 0.0},
    }
    answer = found(rates, (1.0, 1.0005, 0.9995, 1.0, 1.0), link_rate_bps=100e6)
    lines = shown(answer.table)

    assert lines[0].split() == ["for", "what", "fastest", "others"]
    assert lines[1] == (
        "one large file, upload, 1 client        SMB and NFS 3 (no difference shown)"
        "                  SFTP: no result"
    )
    assert lines[2].startswith(
        "one large file, download, 1 client      SMB and NFS 3 (as fast as the network, 94.1 "
        "Mbit/s)  SFTP 28.9 % slower ("
    )
    assert lines[5].startswith("many small files, upload, 1 client      SMB  ")
    assert lines[5].endswith("), NFS 3: no result")
    assert answer.table.to_csv().splitlines()[0] == "purpose,fastest,others"
    every = {"SMB": 0.985 * WIRE_BPS, "NFS 3": 0.985 * WIRE_BPS}
    some = found({"large": every, "small": every}, (1.0, 1.0005), link_rate_bps=100e6)
    assert some.sentence == (
        "Fastest by mean: for large files NFS 3; for many small files NFS 3; for creating and "
        "removing files NFS 3; no order is shown, as 2 trials each cannot show one."
    )
    assert some.table.rows[0][1].text == "NFS 3 by mean (not shown)"
    goodput = {"goodput_bps": 0.99 * WIRE_BPS}
    everything = found(
        {"large": every, "small": every}, link_rate_bps=100e6, more=lambda block: goodput
    )
    assert everything.sentence.endswith(" are as fast as the network (94.1 Mbit/s).")
