"""Programs that read nothing, print without end, or do not end: none costs more than its bounds."""

import subprocess
import time

import pytest

from lanlab.pipes import KEPT_BYTES, Stalled, Tail, run_briefly, write_within


def program(script: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(["sh", "-c", script], stdin=pipe, stdout=pipe)


def ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def test_a_program_receives_all_written_data() -> None:
    process = program("wc -c")
    assert process.stdin is not None and process.stdout is not None
    write_within(process.stdin, b"x" * 1_000_000, 10.0)
    process.stdin.close()
    assert int(process.stdout.read()) == 1_000_000
    ended(process)


@pytest.mark.parametrize(
    ("script", "within_s", "stalled_s"),
    [
        ("exec sleep 60", 0.2, None),
        ("exec sleep 60", 60.0, 0.2),
        ("while head -c 4096 >/dev/null; do sleep 0.05; done", 0.5, 5.0),
    ],
)
def test_unread_output_times_out(script: str, within_s: float, stalled_s: float | None) -> None:
    process = program(script)
    assert process.stdin is not None
    began = time.monotonic()
    with pytest.raises(Stalled, match=r"^\d+ bytes were not taken$"):
        write_within(process.stdin, b"x" * 10_000_000, within_s, stalled_s)
    assert time.monotonic() - began < 30
    ended(process)


def test_a_vanished_reader_is_an_error() -> None:
    process = program("exec <&-; exec sleep 60")
    assert process.stdin is not None
    with pytest.raises(BrokenPipeError):
        for _ in range(100):
            write_within(process.stdin, b"x" * 100_000, 10.0)
    ended(process)


def test_the_end_of_a_long_output_is_kept() -> None:
    process = program("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last; echo")
    assert process.stdout is not None
    tail = Tail(process.stdout, "test")
    tail.join(10.0)
    assert len(tail.text()) == KEPT_BYTES
    assert tail.last_line() == "last"
    assert not tail.is_flood
    ended(process)


def test_a_flood_ends_the_program_once() -> None:
    process = program("exec yes")
    assert process.stdout is not None
    floods = []

    def end() -> None:
        floods.append(1)
        process.kill()

    tail = Tail(process.stdout, "test", end, most_bytes=2**20)
    tail.join(10.0)
    assert process.wait(10) == -9
    assert tail.is_flood and floods == [1]
    ended(process)


def test_a_brief_program_returns_its_output() -> None:
    done = run_briefly(["sh", "-c", "cat; echo bad >&2; exit 3"], 10.0, "good")
    assert (done.returncode, done.stdout, done.stderr) == (3, "good", "bad\n")


def test_a_brief_program_prints_at_most_a_mebibyte() -> None:
    with pytest.raises(OSError, match=r"`yes` wrote more than 1 MiB of output and was ended"):
        run_briefly(["yes"], 10.0)


@pytest.mark.parametrize("script", ["sleep 60", "exec >&- 2>&-; sleep 60", "sleep 2 & exit 0"])
def test_a_brief_program_is_ended_after_a_short_time(script: str) -> None:
    began = time.monotonic()
    if script.endswith("exit 0"):
        assert run_briefly(["sh", "-c", script], 0.5).returncode == 0
    else:
        with pytest.raises(subprocess.TimeoutExpired):
            run_briefly(["sh", "-c", script], 0.5)
    assert time.monotonic() - began < 30
