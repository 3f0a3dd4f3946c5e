"""Commands whose standard streams are closed, and that may open few files: one sentence each."""

import subprocess
from pathlib import Path

import pytest
from command_line import COMMAND
from programs import ran


def shell(script: str, folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return ran(["sh", "-c", script, "sh", *COMMAND, *argv], cwd=folder)


ECHO = ("echo", "--requests", "10", "--testbed", "loopback")
CLOSED = "error: standard output cannot be written: Bad file descriptor\n"


@pytest.mark.parametrize("argv", [("studies",), ("show", "poo-tan", "--json"), ("--help",)])
def test_an_answer_to_a_closed_output_is_an_error(tmp_path: Path, argv: tuple[str, ...]) -> None:
    done = shell('exec "$@" >&-', tmp_path, *argv)
    assert (done.returncode, done.stderr) == (1, CLOSED)


def test_a_closed_standard_error_is_tolerated(tmp_path: Path) -> None:
    done = shell('exec "$@" 2>&-', tmp_path, "studies", "--json")
    assert done.returncode == 0
    assert done.stdout.startswith("{")


def test_opened_files_never_reuse_a_closed_output_descriptor(tmp_path: Path) -> None:
    done = shell('exec "$@" <&- >&-', tmp_path, *ECHO)
    assert done.returncode == 1
    assert "this is a bug" not in done.stderr
    with (tmp_path / "lanlab-results" / "store.sqlite").open("rb") as file:
        assert file.read(15) == b"SQLite format 3"


@pytest.mark.parametrize("most", [6, 8, 12, 16])
@pytest.mark.parametrize("argv", [ECHO, ("report", "last"), ("runs",)])
def test_running_out_of_file_descriptors_gives_one_error_line(
    tmp_path: Path, most: int, argv: tuple[str, ...]
) -> None:
    done = shell(f'ulimit -n {most}; exec "$@"', tmp_path, *argv)
    assert done.returncode in (0, 1, 2)
    assert "this is a bug" not in done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert "error: " in done.stderr
