"""Commands that are ended from outside: what is kept, what is left, and how to go on."""

import signal
from pathlib import Path

import pytest
from command_line import Lanlab, running
from held import Held
from waiting import until

SLOW = ("run", "small.toml", "--scale", "slow", "--seed", "3", "--testbed", "loopback")
#: Three conditions, three times each.
TRIALS = 9


def completed(lanlab: Lanlab, kept: int) -> None:
    """Go on with the last run, and check that what was kept is in it."""
    (row,) = lanlab("runs", "--json").json()["runs"]
    assert row["status"] == "interrupted"
    assert kept <= row["trials"] < TRIALS
    assert "interrupted" in lanlab("runs").out

    done = lanlab("run", "--resume", "last", "--json")

    assert done.code == 0
    answer = done.json()
    assert (answer["run"], answer["status"], answer["seed"]) == (row["run"], "done", 3)
    assert [trial["number"] for trial in answer["trials"]] == list(range(TRIALS))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_ended_run_can_be_resumed(number: signal.Signals, lanlab: Lanlab, folder: Path) -> None:
    with running(folder, *SLOW, "--json", trials=Held(folder / "held")) as command:
        command.reach_trial(after=2)
        command.process.send_signal(number)
        said = command.end()
        left = command.left()

    assert (said.code, said.out) == (1, "")
    *_, error, hint = said.err.splitlines()
    run = error.split()[2]
    assert error == f"error: run {run} was interrupted; the trials that had ended are saved"
    assert hint == f"hint: continue with `lanlab run --resume {run}`"
    assert left == []
    if number == signal.SIGINT:
        shown = lanlab("show", "last")
        assert shown.code == 0 and "The run is interrupted: " in shown.out
        completed(lanlab, kept=2)


def test_a_run_under_way_is_running_and_cannot_be_resumed(lanlab: Lanlab, folder: Path) -> None:
    with running(folder, *SLOW, trials=Held(folder / "held")) as command:
        command.reach_trial(after=1)
        (row,) = lanlab("runs", "--json").json()["runs"]
        second = lanlab("run", "--resume", "last")
        first = command.end()

    assert row["status"] == "running"
    assert (second.code, second.out) == (1, "")
    assert f"run `{row['run']}` is still running in another process" in second.err
    assert first.code == 0
    assert f"done: {TRIALS} trials, 0 failed" in first.out


def test_a_run_under_nohup_survives_its_terminal(folder: Path) -> None:
    held = Held(folder / "held")
    with running(folder, *SLOW, ignored=signal.SIGHUP, trials=held) as command:
        command.reach_trial(after=1)
        command.process.send_signal(signal.SIGHUP)
        command.reach_trial(after=2)


def test_an_ended_single_measurement_can_be_resumed(lanlab: Lanlab, folder: Path) -> None:
    args = ("stream", "--testbed", "loopback", "--time", "0.2", "--trials", "20", "--json")
    with running(folder, *args, trials=Held(folder / "held")) as command:
        command.reach_trial(after=1)
        command.process.send_signal(signal.SIGINT)
        said = command.end()

    assert (said.code, said.out) == (1, "")
    assert "hint: continue with `lanlab run --resume " in said.err
    (row,) = lanlab("runs", "--json").json()["runs"]
    assert (row["study"], row["status"]) == ("stream", "interrupted")


def test_cleanup_continues_after_ctrl_c(lanlab: Lanlab, folder: Path) -> None:
    args = ("stream", "--testbed", "loopback", "--time", "0.05", "--rate", "1M", "--trials", "2")
    cleanup = "echo begun >> cleanup; sleep {}; echo ended >> cleanup"
    with running(folder, *args, "--cleanup", cleanup.format(2)) as command:
        until((folder / "cleanup").exists, "the cleanup")
        command.process.send_signal(signal.SIGINT)
        said = command.end()

    assert said.code == 1
    assert "hint: continue with `lanlab run --resume " in said.err
    assert said.err.endswith(" --allow-commands`\n")
    assert (folder / "cleanup").read_text() == "begun\nended\n"
    (trial,) = lanlab("show", "last", "--json").json()["trials"]
    assert (trial["status"], trial["commands"][0]["when"]) == ("done", "cleanup")

    (folder / "cleanup").unlink()
    with running(folder, *args, "--cleanup", cleanup.format(100)) as command:
        until((folder / "cleanup").exists, "the cleanup")

        def has_ended_after_a_press() -> bool:
            command.process.send_signal(signal.SIGINT)
            return command.process.poll() is not None

        # Presses within a second are one.
        until(has_ended_after_a_press, "the end by a second press")
        said = command.end()
        # It was ended by a signal, which a busy system takes its time for.
        until(lambda: not command.left(), "the end of the cleanup")

    assert said.code == 1
    assert (folder / "cleanup").read_text() == "begun\n"
