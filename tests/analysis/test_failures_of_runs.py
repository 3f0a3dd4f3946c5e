"""Failed trials: what became of their place, and what had been seen."""

from dataclasses import replace
from typing import Any

from planned_runs import planned_run

from lanlab.analysis.trials.failures import failures, missing_places
from lanlab.store import TrialRecord

LIKE = planned_run("manford-kolahi", "tiny", 100_000_000).trials[0]


def trial(number: int, status: str, *, disturbed: bool = False, **raw: Any) -> TrialRecord:
    findings = [{"repeat_helps": True}] if disturbed else []
    error = {"code": "peer.gone", "message": "gone", "hint": None, "end": "receiver"}
    return replace(
        LIKE,
        number=number,
        status=status,
        raw={**raw, "pollution": {"findings": findings}},
        error=error if status == "failed" else None,
    )


def fates(*trials: TrialRecord) -> list[tuple[str, int | None]]:
    return [(failure.fate, failure.retried_as) for failure in failures(trials)]


def test_a_failed_trial_is_reported_with_its_retries() -> None:
    assert fates(trial(3, "failed"), trial(9, "done")) == [("retried", 9)]
    assert fates(trial(3, "failed"), trial(9, "failed")) == [("retried", 9), ("missing", None)]
    assert fates(trial(3, "done", disturbed=True), trial(9, "failed")) == [
        ("polluted_counts", None)
    ]


def test_a_place_is_missing_only_if_every_trial_failed() -> None:
    alone = trial(3, "failed")
    elsewhere = replace(trial(4, "done"), block=LIKE.block + 1)

    assert missing_places([alone, elsewhere]) == [alone]
    assert missing_places([alone, trial(9, "done"), elsewhere]) == []
    assert missing_places([]) == []


def test_partial_counts_include_both_ends() -> None:
    sent = {"kind": "stream_sent", "total_messages": 120}
    received = {"kind": "stream_received", "total_messages": 117}
    progress = {"elapsed_s": 0.25, "messages": 60, "bytes": 6000, "sent_messages": 61}
    both, one, none, nothing = failures(
        [
            trial(0, "failed", sender=sent, receiver=received, progress=progress),
            trial(1, "failed", receiver=received),
            trial(2, "failed", progress=progress),
            trial(3, "failed"),
        ]
    )

    assert both.seen == "sent 120, received 117"
    assert one.seen == "received 117"
    assert none.seen == "after 0.25 s the receiver had 60 messages"
    assert nothing.seen == ""
