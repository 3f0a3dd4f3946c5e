"""Names, notes and tags of runs."""

from command_line import Lanlab

from lanlab.store import RunRecord, TrialRecord, open_store


def store_runs() -> tuple[str, str]:
    """Two runs of one trial each, in the store of this folder; their ids."""
    ids = ("20261121-080000-one-0001", "20261121-090000-two-0002")
    with open_store(None) as records:
        for run_id in ids:
            bed = {"name": "loopback", "link": "unshaped"}
            began = "2026-11-21T08:00:00.000000+00:00"
            records.start_run(
                RunRecord(run_id, "s", {}, "quick", 1, bed, {}, "running", began)
            ).release()
            records.commit_trial(
                TrialRecord(run_id, 0, "e", "echo", {}, {}, 0, "trial", "done", began, 1.0, {}, {})
            )
            records.finish_run(run_id, "done")
    return ids


def test_what_holds_no_result_is_an_error(lanlab: Lanlab) -> None:
    ids = store_runs()
    assert "with the tag `lab3`" in lanlab("runs", "--tagged", "lab3").err
    for run in ids:
        assert lanlab("delete", run, "--yes").code == 0
    said = lanlab("runs")
    assert (said.code, said.out) == (1, "") and "the store has no run" in said.err

    with open_store(None) as records:
        began = "2026-11-21T08:00:00.000000+00:00"
        records.start_run(
            RunRecord(ids[0], "s", {}, "quick", 1, {}, {}, "running", began)
        ).release()
        records.finish_run(ids[0], "interrupted")
    for command in (("show", "last"), ("show", "last", "--json"), ("report", "last")):
        said = lanlab(*command)
        assert said.code == 1 and "has no trial: nothing was measured" in said.err, said


def test_a_run_is_found_by_its_name(lanlab: Lanlab) -> None:
    one, two = store_runs()
    with open_store(None) as records:
        before = records.trials(one)
    assert lanlab("runs", "--rename", one, "before-upgrade").out == f"{one}: name before-upgrade\n"
    assert lanlab("runs", "--note", "before-upgrade", "cable replaced").code == 0
    assert lanlab("runs", "--tag", one, "lab2").code == 0

    with open_store(None) as records:
        assert records.run("before-upgrade").id == one
        assert records.trials("before-upgrade") == before
    assert "no study named" not in lanlab("show", "before-upgrade").err
    listed = lanlab("runs", "--json").json()["runs"]
    assert [(run["run"], run["name"], run["note"], run["tags"]) for run in listed] == [
        (one, "before-upgrade", "cable replaced", ["lab2"]),
        (two, None, None, []),
    ]
    assert "cable replaced" in lanlab("runs").out
    assert [run["run"] for run in lanlab("runs", "--tagged", "lab2", "--json").json()["runs"]] == [
        one
    ]


def test_labels_are_removed(lanlab: Lanlab) -> None:
    one, _ = store_runs()
    lanlab("runs", "--note", one, "wrong")
    lanlab("runs", "--tag", one, "old")
    assert lanlab("runs", "--note", one, "").out == f"{one}: tags old\n"
    assert lanlab("runs", "--untag", one, "old").out == f"{one}: no name, note or tag\n"
    said = lanlab("runs", "--untag", one, "old")
    assert (said.code, "has no tag `old`" in said.err) == (2, True)


def test_tagged_chooses_no_runs_to_change(lanlab: Lanlab) -> None:
    one, _ = store_runs()
    lanlab("runs", "--tag", one, "old")
    said = lanlab("runs", "--tagged", "old", "--note", "last", "x")
    assert (said.code, "--tagged and --note cannot be used together" in said.err) == (2, True)
    assert len(lanlab("runs", "--json").json()["runs"]) == 2
    assert lanlab("runs", "--tag", one, "a", "--note", one, "b").code == 2
