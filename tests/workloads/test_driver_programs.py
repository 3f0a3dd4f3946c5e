"""Other programs as processes: started, seen to listen, waited for and ended."""

import os
import socket
import stat
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from trial_running import opened_pair
from waiting import PATIENCE_S, is_running, until

from lanlab.errors import RunError
from lanlab.performers import perform_between
from lanlab.performers import programs as driver_trial
from lanlab.performers.program import (
    Program,
    failure,
    free_ports,
    has_port,
    started_on,
    wait_listening,
)
from lanlab.workloads import WORKLOADS

#: Binds a port when a file is there.
LISTENER = """
import os, socket, sys, time
while not os.path.exists(sys.argv[3]):
    time.sleep(0.01)
kind = socket.SOCK_STREAM if sys.argv[1] == "tcp" else socket.SOCK_DGRAM
with socket.socket(socket.AF_INET, kind) as s:
    s.bind(("127.0.0.1", int(sys.argv[2])))
    if sys.argv[1] == "tcp":
        s.listen()
    time.sleep(60)
"""


def python(code: str, *arguments: str) -> Program:
    return Program("listener", [sys.executable, "-c", code, *arguments])


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_a_program_is_ready_when_it_has_its_port(transport: str, tmp_path: Path) -> None:
    """Not when it was started, and not because another program has the port."""
    port = free_ports((), 1)
    program = python(LISTENER, transport, str(port), str(tmp_path / "go"))
    try:
        assert not has_port(program.pid, transport, port)
        (tmp_path / "go").touch()
        wait_listening(program, transport, port, PATIENCE_S)
        assert has_port(program.pid, transport, port)
        assert not has_port(os.getpid(), transport, port)
    finally:
        program.close()


def test_a_program_that_ends_before_it_listens_is_quoted() -> None:
    program = python("raise SystemExit('no such option: -q')")
    try:
        with pytest.raises(RunError, match="ended before it listened: no such option: -q"):
            wait_listening(program, "tcp", 1, 20)
    finally:
        program.close()


def test_time_on_the_processors_is_the_program_s_own_and_its_children_s() -> None:
    burn = """
import os, time
def burn():
    began = time.process_time()
    while time.process_time() - began < 0.2: pass
if (child := os.fork()) == 0:
    burn(); os._exit(0)
burn(); os.waitpid(child, 0)
"""
    program = python(textwrap.dedent(burn))
    try:
        assert program.wait(30)
        assert program.exit_code == 0
        assert program.cpu_s is not None
        assert 0.38 <= sum(program.cpu_s) <= 0.8
    finally:
        program.close()


def test_ending_a_program_ends_what_it_has_started() -> None:
    program = python(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    try:
        assert program.wait_for("\n", 20)
        child = int(program.output()[0])
        assert is_running(child)
        program.end()
        assert program.exit_code == -9
        until(lambda: not is_running(child), "its end")
    finally:
        program.close()


def test_ports_in_use_are_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    first = free_ports((), 4)
    monkeypatch.setattr("lanlab.performers.program._PORTS", (first, first + 5))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", first + 1))
        with pytest.raises(RunError, match=f"no 4 free ports between {first} and {first + 5}"):
            free_ports((), 4)
    assert free_ports((), 4) == first


def test_a_program_is_bound_to_its_processor() -> None:
    processor = min(os.sched_getaffinity(0))
    program = Program("sleep", started_on((), ["/bin/sleep", "60"], processor))
    try:
        comm = Path(f"/proc/{program.pid}/comm")
        until(lambda: comm.read_text() == "sleep\n", "the program")
        assert os.sched_getaffinity(program.pid) == {processor}
    finally:
        program.close()


def fake_iperf3(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program of that name, first on PATH. It leaves its process ids in a file."""
    program = folder / "iperf3"
    program.write_text(f"#!{sys.executable}\nLOG = {str(folder / 'pids')!r}\n" + FAKE + script)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


FAKE = """
import os, socket, sys, time
if "--version" in sys.argv:
    sys.exit()
server = "--server" in sys.argv
if server or "--client" in sys.argv:
    with open(LOG, "a") as log:
        print(os.getpid(), file=log)
port = int(sys.argv[sys.argv.index("--port") + 1]) if "--port" in sys.argv else 0
def listen():
    s = socket.socket()
    s.bind(("127.0.0.1", port))
    s.listen()
    return s
"""


def run_iperf3(**parameters: Any) -> Any:
    kind = WORKLOADS["stream"]
    condition = kind.Parameters.model_validate({"driver": "iperf3", "time_s": 1, **parameters})
    with opened_pair() as pair:
        return perform_between(kind, condition, pair.end(0), pair.end(1), 0.02)


def left_running(folder: Path) -> list[int]:
    pids = [int(line) for line in (folder / "pids").read_text().split()]
    assert pids
    return [pid for pid in pids if is_running(pid)]


@pytest.mark.parametrize(
    ("script", "limit", "said"),
    [
        ("sys.exit('no route')", "", "`iperf3 server` ended before it listened: no route"),
        ("time.sleep(60)", "_LISTENING_WITHIN_S", "`iperf3 server` does not listen on tcp port"),
        (
            "s = listen() if server else sys.exit('busy')\ntime.sleep(60)",
            "",
            r"`iperf3 client` failed \(1\): busy",
        ),
        (
            "s = listen() if server else None\ntime.sleep(60)",
            "_MARGIN_S",
            "`iperf3 client` has not ended after",
        ),
        (
            "s = listen() if server else sys.exit(0)\ntime.sleep(60)",
            "_SERVER_ENDS_WITHIN_S",
            "`iperf3 server` has not ended 0.5 s after its client",
        ),
    ],
    ids=["server fails", "server is mute", "client fails", "client hangs", "server stays"],
)
def test_every_failure_is_an_error_and_leaves_nothing(
    script: str, limit: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_iperf3(tmp_path, monkeypatch, script)
    for name in ("_LISTENING_WITHIN_S", "_MARGIN_S", "_SERVER_ENDS_WITHIN_S"):
        monkeypatch.setattr(driver_trial, name, 0.5 if name == limit else PATIENCE_S)

    exchange = run_iperf3(silence_s=0.1)

    with pytest.raises(RunError, match=said):
        raise exchange.error
    assert exchange.results["receiver"]["command"][-2:] == ["--bind", "127.0.0.1"]
    assert left_running(tmp_path) == []


def test_an_interrupt_ends_both_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_iperf3(tmp_path, monkeypatch, "s = listen() if server else None\ntime.sleep(60)")

    def interrupted(program: Program, timeout_s: float) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(Program, "wait", interrupted)

    with pytest.raises(KeyboardInterrupt):
        run_iperf3()
    assert left_running(tmp_path) == []


@pytest.mark.parametrize("stream", [1, 2])
def test_a_program_that_prints_without_end_is_ended(stream: int) -> None:
    # Python ignores the signal; a program in C does not.
    program = Program("flood", ["sh", "-c", f"exec yes evil >&{stream}"])
    try:
        assert program.wait(20)
        assert max(map(len, program.output())) <= 32 * 2**20
        said = "`flood` wrote more than 32 MiB of output and was ended"
        assert str(failure(program, "failed")) == said
    finally:
        program.close()
