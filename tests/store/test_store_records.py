"""What goes into a store of either kind comes out, and nothing else goes in."""

import dataclasses
import math
from contextlib import AbstractContextManager
from typing import Any

import pytest
from store_samples import a_run, a_trial, store_with_run

from lanlab.errors import StoreError, UnknownName, UsageError
from lanlab.report.runs.stored import is_killed
from lanlab.store import open_store
from lanlab.store.rows import Session


def test_records_round_trip(where: str) -> None:
    failed = a_trial(1, status="failed", error={"code": "peer.gone", "message": "m", "hint": None})
    with store_with_run(where) as store:
        store.commit_trial(failed)
        store.commit_trial(a_trial(0))

    with open_store(where) as store:
        assert store.runs() == [a_run()]
        assert store.trials(a_run().id) == [a_trial(0), failed]
        assert isinstance(store.trials("last")[0].factors["batched"], bool)


def test_a_run_is_read_by_one_query(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with store_with_run(where) as store:
        asked: list[str] = []
        reading = store.reading

        def counted() -> AbstractContextManager[Session]:
            asked.append("reading")
            return reading()

        monkeypatch.setattr(store, "reading", counted)
        assert store.run(a_run().id) == a_run()
        assert asked == ["reading"]
        for name in ("\0", "\udcff", ""):
            with pytest.raises(UnknownName):
                store.run(name)


def test_a_run_knows_its_place_in_a_series(where: str) -> None:
    place = {"id": "s", "turn": 1, "side": 0, "seed": 2**32, "sides": [{"name": "a"}]}
    with open_store(where) as store:
        store.start_run(a_run(alternation=place)).release()
    with open_store(where) as store:
        assert store.run("last").alternation == place


def test_a_trial_number_is_never_used_twice(where: str) -> None:
    with store_with_run(where) as store:
        store.commit_trial(a_trial(0))
        with pytest.raises(StoreError, match="already has a trial 0; nothing was overwritten"):
            store.commit_trial(a_trial(0, elapsed_s=9.0))

        assert store.trials("last") == [a_trial(0)]


def test_a_run_id_is_never_used_twice(where: str) -> None:
    with store_with_run(where) as store:
        with pytest.raises(StoreError, match="already exists"):
            store.start_run(a_run(seed=1)).release()

        assert store.run("last").seed == a_run().seed


@pytest.mark.parametrize("run_id", ["", "last", "../x", "a b", "-x"])
def test_a_run_id_that_cannot_be_a_file_name_is_refused(where: str, run_id: str) -> None:
    with open_store(where) as store, pytest.raises(StoreError, match="cannot have"):
        store.start_run(a_run(id=run_id)).release()


def test_a_trial_of_no_run_is_refused(where: str) -> None:
    with store_with_run(where) as store, pytest.raises(StoreError, match="unknown run `other`"):
        store.commit_trial(a_trial(0, run_id="other"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": {"goodput_bps": math.nan}}, "`metrics.goodput_bps` is nan"),
        ({"raw": {"a": [0.0, math.inf]}}, "`raw.a.1` is inf"),
        ({"elapsed_s": math.nan}, "`elapsed_s` is nan"),
        ({"raw": {"a": {1: 2}}}, "`raw.a` has the key 1"),
        ({"raw": {"a": object()}}, "`raw.a` is a object"),
        ({"number": 2**63}, "needs more than 64 bits"),
        ({"experiment": "a\0b"}, "`experiment` is 'a.x00b', which has a NUL"),
        ({"experiment": "\ud800"}, "which is not text"),
        ({"number": -1}, "a trial's number is -1; allowed: 0 and above"),
        ({"purpose": "none"}, "a trial's purpose is `none`; allowed: trial, search"),
        ({"status": "maybe"}, "a trial's status is `maybe`; allowed: done, failed"),
    ],
)
def test_values_that_cannot_be_stored_exactly_are_refused(
    where: str,
    changes: dict[str, Any],
    message: str,
) -> None:
    with store_with_run(where) as store:
        with pytest.raises(StoreError, match=message):
            store.commit_trial(dataclasses.replace(a_trial(0), **changes))

        assert store.trials("last") == []
        store.commit_trial(a_trial(0))


def test_a_run_is_found_by_id_by_prefix_and_as_last(where: str) -> None:
    with open_store(where) as store:
        for run_id in ("20270101-b", "20260101-a", "20260101-a-2"):
            store.start_run(a_run(id=run_id)).release()

        assert store.run("20260101-a").id == "20260101-a"
        assert store.run("2027").id == "20270101-b"
        assert store.run("last").id == "20260101-a-2"
        assert [run.id for run in store.runs()] == ["20270101-b", "20260101-a", "20260101-a-2"]


def test_an_ambiguous_prefix_lists_its_runs(where: str) -> None:
    with open_store(where) as store:
        for run_id in ("20260101-a", "20260101-b", "2027"):
            store.start_run(a_run(id=run_id)).release()
        with pytest.raises(UsageError, match="2 run ids: 20260101-a, 20260101-b"):
            store.run("2026")


def test_an_unknown_run_offers_the_closest(where: str) -> None:
    with open_store(where) as store:
        store.start_run(a_run(id="20260101-milanovic")).release()
        with pytest.raises(UnknownName, match="no run named `20260101-milanovik`") as caught:
            store.run("20260101-milanovik")

        assert caught.value.hint == "did you mean `20260101-milanovic`?"
        for wrong in ("", "%", "zzz"):
            with pytest.raises(UnknownName):
                store.run(wrong)


def test_finish_and_reopen_change_the_status_and_nothing_else(where: str) -> None:
    with store_with_run(where) as store:
        store.finish_run(a_run().id, "interrupted")
        ended = store.run("last")
        assert ended.ended_at is not None
        assert ended == a_run(status="interrupted", ended_at=ended.ended_at)

        assert store.reopen_run(a_run().id) == a_run() == store.run("last")
        with pytest.raises(StoreError, match="a run's status is `perhaps`; allowed: running"):
            store.finish_run(a_run().id, "perhaps")
        with pytest.raises(UnknownName):
            store.finish_run("other", "done")


def test_reading_a_missing_store_creates_none(where: str) -> None:
    for _ in range(2):
        with open_store(where) as store:
            with pytest.raises(StoreError, match="no results yet") as refused:
                store.runs()
            assert "lanlab run" in str(refused.value.hint)


def test_two_leases_of_one_process_exclude_each_other(where: str) -> None:
    with store_with_run(where) as store:
        lease = store.acquire_run("last")
        assert store.is_executing("last")
        with pytest.raises(StoreError, match="running in another process"):
            store.acquire_run("last")
        lease.release()
        lease.release()
        assert not store.is_executing("last")
        with store.acquire_run("last"):
            store.commit_trial(a_trial(0))
        store.commit_trial(a_trial(1))
        assert [trial.number for trial in store.trials("last")] == [0, 1]


def test_a_run_that_starts_or_ends_meanwhile_is_not_listed_as_killed(where: str) -> None:
    with open_store(where) as store, open_store(where) as other:
        lease = store.start_run(a_run())
        listed = other.run("last")
        assert not is_killed(listed, other)
        store.finish_run(listed.id, "done")
        lease.release()
        assert not is_killed(listed, other)
        with pytest.raises(StoreError, match="already exists"):
            store.start_run(a_run())
        other.reopen_run(listed.id)
        assert is_killed(listed, other)


def test_two_runs_are_executed_at_once_in_one_store(where: str) -> None:
    with open_store(where) as store, open_store(where) as other:
        for run_id in ("a", "b"):
            store.start_run(a_run(id=run_id)).release()
        with store.acquire_run("a"), other.acquire_run("b"):
            for number in range(3):
                store.commit_trial(a_trial(number, run_id="a"))
                other.commit_trial(a_trial(number, run_id="b", elapsed_s=2.0))

        assert [trial.elapsed_s for trial in store.trials("a")] == [1.7] * 3
        assert [trial.elapsed_s for trial in store.trials("b")] == [2.0] * 3


def test_a_store_can_be_closed_twice_and_used_again(where: str) -> None:
    store = open_store(where)
    store.start_run(a_run()).release()
    store.close()
    store.close()

    assert store.run("last") == a_run()
    store.close()
