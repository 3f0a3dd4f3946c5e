"""What a killed lanlab leaves when its processes do not notice, and its end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from programs import begun
from testbed_opening import Open
from testbed_peers import marked_by
from waiting import PATIENCE_S, await_end

from lanlab.testbeds import process_leftovers

#: Opens a testbed, stops a holder and a process on a host, and waits to be killed.
CHILD = """
import os, signal, subprocess, sys
from lanlab.testbeds import process_leftovers
from lanlab.testbeds.registry import testbed
bed = testbed("virtual", 2, "unshaped")
# Pipes of its own: our output must end when we do.
on_host = subprocess.Popen(
    [*bed.hosts[0].command_prefix, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
# Only now has it become `cat`, with the mark: before, it was still on its way there.
print("there", file=on_host.stdin)
on_host.stdin.flush()
on_host.stdout.readline()
for process in process_leftovers.marked_processes():
    if process.mark.startswith(f"{os.getpid()}:"):
        os.kill(process.pid, signal.SIGSTOP)
print("open", flush=True)
sys.stdin.readline()
"""


def start(code: str) -> subprocess.Popen[str]:
    child, said = begun([sys.executable, "-c", code])
    assert said == "open\n"
    return child


def test_the_next_testbed_ends_leftovers_of_a_killed_testbed(open_bed: Open) -> None:
    open_bed("virtual", 2, "unshaped").close()
    child = start(CHILD)
    stopped = marked_by(child.pid)
    # Two hosts, the engine that sets them up, and what was started on one.
    assert len(stopped) == 4
    # While their lanlab lives, they are nobody's leftovers.
    assert not set(stopped) & set(process_leftovers.find_leftovers())
    child.kill()
    child.communicate()

    # A testbed that another test opens now may end them first.
    open_bed("virtual", 2, "unshaped")

    await_end([each.pid for each in stopped])
    assert not set(stopped) & set(process_leftovers.find_leftovers())


def marked(mark: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        ["cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, process_leftovers.MARK: mark},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    # It has been started before the kernel gives it its environment; what answers has it.
    process.stdin.write(b"there\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"there\n"
    return process


def ended_by(process: subprocess.Popen[bytes]) -> int:
    code = process.wait(timeout=10)
    process.communicate()  # Closes its pipes.
    return code


@pytest.mark.parametrize(
    "mark",
    ["{own}:1:0", "999999999:5:0", "gone", "", ":::"],
    ids=["other process of the same id", "no process", "no number", "empty", "colons"],
)
def test_a_mark_without_its_owner_is_a_leftover(mark: str) -> None:
    process = marked(mark.format(own=os.getpid()))
    found = [each for each in process_leftovers.find_leftovers() if each.pid == process.pid]
    assert process_leftovers.end(found) == []
    assert ended_by(process) == -signal.SIGKILL


def test_processes_get_time_to_end_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, done = tmp_path / "go", tmp_path / "done"
    find = process_leftovers.find_leftovers

    def found() -> list[process_leftovers.Leftover]:
        leftovers = find()
        go.touch()
        return leftovers

    monkeypatch.setattr(process_leftovers, "find_leftovers", found)
    monkeypatch.setattr(process_leftovers, "_LEAVE_WITHIN_S", PATIENCE_S)
    with subprocess.Popen(
        ["sh", "-c", f"echo; until [ -e '{go}' ]; do sleep 0.05; done; : >'{done}'"],
        stdout=subprocess.PIPE,
        env={**os.environ, process_leftovers.MARK: "gone"},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        assert process.pid in {each.pid for each in process_leftovers.clean_leftovers()}
    assert process.returncode == 0
    assert done.exists()


def test_processes_that_do_not_end_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, stopped = marked("gone"), marked("gone")
    stopped.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(process_leftovers, "_LEAVE_WITHIN_S", 0.2)
    process_leftovers.clean_leftovers()
    assert (ended_by(waiting), ended_by(stopped)) == (-signal.SIGKILL, -signal.SIGKILL)


def test_a_process_started_while_others_are_killed_is_killed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mark, kill = process_leftovers.new_mark(), os.kill
    processes = [marked(mark)]

    def start_another_and_kill(pid: int, number: int) -> None:
        if len(processes) == 1:
            processes.append(marked(mark))
        kill(pid, number)

    monkeypatch.setattr(os, "kill", start_another_and_kill)
    assert process_leftovers.end_marked(mark) == []
    assert [ended_by(each) for each in processes] == 2 * [-signal.SIGKILL]


def test_processes_of_a_living_owner_are_not_touched() -> None:
    process = marked(process_leftovers.new_mark())
    assert process.pid in {each.pid for each in process_leftovers.marked_processes()}
    assert process.pid not in {each.pid for each in process_leftovers.find_leftovers()}
    process.communicate()


def test_marks_of_one_process_differ() -> None:
    assert process_leftovers.new_mark() != process_leftovers.new_mark()
