"""What is read of a store: outlines of trials, which equal whole ones, parts of runs, and heads."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from store_samples import a_run, a_trial, store_with_run

from lanlab.errors import StoreError
from lanlab.store import RunHead, database, open_store
from lanlab.store.labels import RunLabel
from lanlab.store.large_runs import Digests, chosen, digest_of, numbers, packed, replaced

RAW: dict[str, Any] = {
    "facts": {
        "before": {"hosts": {"host0": {"load_average": 0.5, "offloads": {"eth0": {"tso": True}}}}},
        "after": {"hosts": {}, "damage": None},
    },
    "setup": {"requests": {"receiver": {"port": 1}}, "hosts": {"receiver": "host1"}},
    "receiver": {"io": "batch", "one_way_delay": {"p50_ns": 7, "histogram": [1, 2]}, "flows": [{}]},
    "pollution": {"findings": [], "unknown": []},
    "progress": None,
}
HELPS = {"code": "foreign_cpu", "found": 0.9, "allowed": 0.1, "repeat_helps": True}


def test_an_outline_has_every_part_of_the_record(where: str) -> None:
    with store_with_run(where) as store:
        store.commit_trial(a_trial(0, raw=RAW))
        store.commit_trial(a_trial(1, raw={"pollution": {"findings": [HELPS]}}))
        first, second = store.outlines("last")
        assert [first, second] == store.trials("last")
        raw = first.raw
        assert raw["receiver"]["io"] == "batch" and raw.get("sender") is None
        # These are in the record alone.
        assert raw["receiver"]["one_way_delay"]["histogram"] == [1, 2]
        assert raw["setup"].get("requests") == {"receiver": {"port": 1}}
        assert "requests" in raw["setup"] and "more" not in raw["setup"]
        assert dict(raw["facts"]) == RAW["facts"] and {**raw} == RAW
        assert list(raw["setup"].items()) == list(RAW["setup"].items())
        assert list(raw) == list(RAW) and len(raw) == len(RAW)
        with pytest.raises(KeyError):
            raw["facts"]["before"]["hosts"]["host0"]["ports"]
    assert not first.is_disturbed and second.is_disturbed
    assert first.metrics == a_trial(0).metrics


def test_chosen_members_are_those_of_the_record(where: str) -> None:
    said = {"note": '"load_average":9,', **RAW["facts"]}
    with store_with_run(where) as store:
        store.commit_trial(a_trial(0, raw={**RAW, "facts": said, "sender": {"rate": 1e22}}))
        (trial,) = store.outlines("last")
        assert chosen(trial.raw, "receiver", ("io", "more")) == {"io": "batch"}
        for key, names in {
            "receiver": ("io", "one_way_delay"),
            "setup": ("requests",),
            "sender": ("rate",),
            "progress": ("io",),
            "more": ("io",),
        }.items():
            found, whole = (chosen(raw, key, names) for raw in (trial.raw, dict(trial.raw)))
            assert {name: found.get(name) for name in names} == {
                name: whole.get(name) for name in names
            }
        assert numbers(trial.raw, "facts", "load_average") == [0.5]


@pytest.mark.parametrize("value", ["1e999", "-1E+999"])
def test_no_member_of_a_digest_is_infinite(value: str) -> None:
    digests = Digests(lambda first, count: {0: f'{{\n"a":{{"x":{value}}}\n}}'}, lambda number: {})
    for read in (lambda: digests.chosen(0, "a", ("x",)), lambda: digests.numbers(0, "a", "x")):
        with pytest.raises(StoreError):
            read()


def test_a_digest_omits_large_parts() -> None:
    digest = digest_of(RAW)
    assert digest is not None and "histogram" in digest and "[1,2]" not in digest
    assert digest.count("\n") == len(RAW) + 1 and json.loads(digest)["receiver"]["io"] == "batch"


@pytest.mark.parametrize("raw", [{"Odd key": 1}, {"client": {"~": 1}}])
def test_a_record_without_a_digest_is_read_whole(where: str, raw: dict[str, Any]) -> None:
    assert digest_of(raw) is None
    with store_with_run(where) as store:
        store.commit_trial(a_trial(0, raw=raw))
        (trial,) = store.outlines("last")
        assert dict(trial.raw) == raw and not trial.is_disturbed


def test_packed_metrics_keep_numbers_and_their_types() -> None:
    metrics = {"bytes": 2**62 + 1, "rate": 0.1, "none": 0, "zero": -0.0, "large": 1e300}
    found = packed(json.dumps(metrics))
    assert repr(dict(found)) == repr(metrics) and not isinstance(found, dict)
    assert list(found.items()) == list(metrics.items()) and list(found.values()) == [
        *metrics.values()
    ]
    assert "rate" in found and found.get("more") is None and len(found) == 5
    assert packed('{"bytes": 18446744073709551616}') == {"bytes": 2**64}
    for wrong in ('{"rate": 1e999}', '{"rate": NaN}', "{", 5):
        with pytest.raises(StoreError):
            packed(wrong)


def test_new_values_hide_those_that_are_replaced() -> None:
    assert dict(replaced({"a": 1, "b": 2}, {"b": 3})) == {"a": 1, "b": 3}


def test_many_trials_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MANY_TRIALS", 5)
    monkeypatch.setattr(database, "OUTLINES_AT_ONCE", 2)
    with store_with_run(tmp_path / "store.sqlite") as store:
        for number in range(7):
            store.commit_trial(a_trial(number, raw={"setup": {"requests": number}}))
        found = store.trials("last")
        assert not isinstance(found[0].raw, dict)
        assert [trial.raw["setup"]["requests"] for trial in reversed(found)] == [*range(6, -1, -1)]
        # A part of a run is read whole.
        assert store.trials("last", 0, 7) == found and isinstance(
            store.trials("last", 1)[0].raw, dict
        )


def test_a_summary_is_kept_until_the_run_continues(where: str) -> None:
    with store_with_run(where) as store:
        store.keep_summary(a_run().id, {"trials": 0})
        assert store.run("last").summary is None
        store.commit_trial(a_trial(0))
        store.finish_run(a_run().id, "done")
        store.keep_summary(a_run().id, {"trials": 0})
        assert store.run("last").summary is None
        store.keep_summary(a_run().id, {"trials": 1})
        assert store.run("last").summary == {"trials": 1}
        assert store.reopen_run(a_run().id).summary is None is store.run("last").summary


def test_heads_have_the_progress_of_each_run(where: str) -> None:
    second = dataclasses.replace(a_run(), id="20261121-091500-small-0002")
    with open_store(where) as store, open_store(where) as other:
        store.start_run(a_run()).release()
        store.start_run(second).release()
        begun = [RunHead(run.id, run.status, 0) for run in (a_run(), second)]
        assert store.heads() == begun
        other.commit_trial(a_trial(0))
        other.commit_trial(a_trial(4))
        assert store.heads()[0].next_number == 5
        other.finish_run(second.id, "failed")
        assert store.heads()[1] == RunHead(second.id, "failed", 0)


def test_heads_have_the_labels_of_runs(where: str) -> None:
    label = RunLabel("before-upgrade", "cable replaced", ("lab2",))
    with store_with_run(where) as store:
        store.label_run(a_run().id, label)
        assert [head.label for head in store.heads()] == [label]


def test_a_part_of_a_run_has_exactly_the_requested_trials(where: str) -> None:
    with store_with_run(where) as store:
        for number in (0, 1, 2, 5):
            store.commit_trial(a_trial(number))
        assert [trial.number for trial in store.trials("last", 1)] == [1, 2, 5]
        assert [trial.number for trial in store.trials("last", 1, 2)] == [1, 2]
        assert store.trials("last", 3, 1) == [a_trial(5)]
        assert store.trials("last", 6) == []


def test_removal_of_an_open_file_is_noticed(tmp_path: Path) -> None:
    place = tmp_path / "store.sqlite"
    with open_store(str(place)) as store:
        store.start_run(a_run()).release()
        place.unlink()
        with pytest.raises(StoreError, match="was removed or replaced while it was in use"):
            store.heads()


def test_trials_are_counted(where: str) -> None:
    with store_with_run(where) as store:
        assert store.count("last") == 0
        for number, status in enumerate(("done", "failed", "done")):
            store.commit_trial(dataclasses.replace(a_trial(number), status=status))
        assert store.count("last") == 3
