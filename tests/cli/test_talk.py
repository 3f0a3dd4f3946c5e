"""Progress and remarks on standard error: one line that is replaced, below lines that stay."""

import contextlib
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import COMMAND, STREAM, environment
from programs import ran

from lanlab.cli.terminal.remarks import Talk, print_lines, say

ERASED = "\r\x1b[2K"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def seen(self) -> list[str]:
        """The lines that stand in it, as a terminal that obeys the erasing has them."""
        lines = self.getvalue().replace("\x1b[?7l", "").replace("\x1b[?7h", "").split("\n")
        return [line.rpartition(ERASED)[2] for line in lines]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    # Not of `sys` itself, where pytest puts its own between this and the test.
    monkeypatch.setattr("lanlab.cli.terminal.remarks.sys", SimpleNamespace(stderr=terminal))
    return terminal


def test_a_remark_is_printed_above_the_progress_line(terminal: Terminal) -> None:
    talk = Talk()
    talk.print("first")
    talk.show("trial 1/2")
    assert terminal.seen() == ["first", "trial 1/2"]
    talk.print("second")
    talk.show("trial 2/2")
    assert terminal.seen() == ["first", "second", "trial 2/2"]
    talk.show("")
    assert terminal.seen() == ["first", "second", ""]
    talk.print("third")
    assert terminal.seen() == ["first", "second", "third", ""]


def test_external_text_cannot_control_the_terminal(terminal: Terminal) -> None:
    talk = Talk()
    talk.show("a\nb\x1b[2Jc")
    talk.print("d\x1b[2Je")
    assert terminal.seen() == ["d\\x1b[2Je", "a b\\x1b[2Jc"]


def test_a_warning_is_yellow_if_colour_is_enabled(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    Talk().print("failed", is_warning=True)
    assert terminal.getvalue() == "\x1b[33mfailed\x1b[0m\n"
    monkeypatch.setenv("NO_COLOR", "1")
    Talk().print("failed", is_warning=True)
    assert terminal.getvalue().endswith("\x1b[0m\nfailed\n")


@pytest.mark.parametrize("kind", ["dumb", "unknown"])
def test_dumb_terminals_show_no_progress_line(
    kind: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", kind)
    talk = Talk()
    talk.show("trial 1/2")
    talk.print("failed", is_warning=True)
    assert terminal.getvalue() == "failed\n"


def test_without_a_terminal_a_remark_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    talk = Talk()
    talk.show("trial 1/2")
    talk.print("failed", is_warning=True)
    say("warning")
    assert capsys.readouterr().err == "failed\nwarning\n"


def test_answers_wrap_at_words_only_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "goodput     10 Mbit/s and more\nkept as     run\x1b[2J"
    print_lines(text)
    assert capsys.readouterr().out == f"{text[:-4]}\\x1b[2J\n"
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "25")
    with contextlib.redirect_stdout(terminal):
        print_lines(text)
    assert terminal.seen() == [
        "goodput     10 Mbit/s and",
        "            more",
        "kept as     run\\x1b[2J",
        "",
    ]


def in_terminal(folder: Path, *arguments: str, output: str, columns: int = 80) -> str:
    """What a command writes to `stdout` or `stderr` if this is a terminal."""
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, output: far}
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=environment(TERM="xterm"), **streams
    )
    os.close(far)
    octets = b""
    # Linux says that the other end has been closed by an error.
    with contextlib.suppress(OSError):
        while some := os.read(near, 1 << 16):
            octets += some
    os.close(near)
    assert process.wait(60) == 0
    return octets.decode()


def test_answers_are_as_wide_as_the_terminal(tmp_path: Path) -> None:
    heading, *rows = in_terminal(tmp_path, "studies", output="stdout", columns=101).splitlines()
    assert heading.startswith("\x1b[1mstudy ")
    assert 90 < max(map(len, rows)) <= 101
    said = in_terminal(tmp_path, "findings", "poo-tan", output="stdout", columns=101).splitlines()
    assert 90 < max(len(line) for line in said if "\x1b" not in line) <= 101


def test_progress_of_a_trial_disappears_at_its_end(tmp_path: Path) -> None:
    command = ("stream", "--testbed", "loopback", "--time", "1.2", "--rate", "1M")
    drawn = in_terminal(tmp_path, *command, output="stderr").split(ERASED)
    assert any("trial 1/1" in one and "bit/s, received" in one for one in drawn)
    assert "[....................] trial 1/1" in drawn[1]
    assert "trial 1/1" not in drawn[-1]


@pytest.mark.parametrize("command", [" ".join(STREAM), "studies"])
def test_neither_measurements_nor_tables_load_rich(tmp_path: Path, command: str) -> None:
    script = f"""
import sys
from lanlab.cli import main
from lanlab.cli.terminal import exit_report
sys.argv = ["lanlab", *{command!r}.split()]
exit_report.leave = sys.exit
try:
    main()
except SystemExit as end:
    print(end.code, "rich" in sys.modules)
"""
    done = ran([sys.executable, "-c", script], cwd=tmp_path, env=environment(), check=True)
    assert done.stdout.splitlines()[-1] == "0 False"
