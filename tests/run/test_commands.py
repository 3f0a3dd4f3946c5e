"""Commands around trials: how they are run and what is kept of them."""

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import ANY

import pytest
from missing import missing
from waiting import is_running

from lanlab.run.commands import _problem, run_command
from lanlab.testbeds import process_leftovers

ENVIRONMENT = dict(os.environ)


def test_the_start_and_end_of_command_output_are_kept() -> None:
    record = run_command("printf first; head -c 100000 /dev/zero; echo last", ENVIRONMENT, 20)

    assert record["exit_code"] == 0
    assert record["output_bytes"] == len("first") + 100_000 + len("last\n")
    assert record["output"].startswith("first")
    assert record["output"].endswith("last\n")
    assert "\0" not in record["output"]
    assert "bytes left out]" in record["output"]
    assert len(record["output"]) < 17_000


def test_background_processes_are_not_waited_for() -> None:
    record = run_command("sleep 600 & echo $!", ENVIRONMENT, 60)

    os.kill(int(record["output"]), 9)
    assert record["exit_code"] == 0


def test_a_command_that_prints_without_end_is_ended() -> None:
    for text in ("yes", "exec >&- 2>&-; sleep 600", "sleep 600 & wait"):
        record = run_command(text, ENVIRONMENT, 0.3)
        assert record["is_overdue"], text
        assert record["exit_code"] == -9


def test_a_command_that_takes_too_long_is_ended_with_its_sessions(tmp_path: Path) -> None:
    if shutil.which("setsid") is None:
        missing("needs `setsid`")
    pids = tmp_path / "pids"
    inner = f"setsid sh -c 'echo $$ >>{pids}; exec sleep 60' & echo $$ >>{pids}; exec sleep 60"
    script = tmp_path / "script"
    script.write_text(inner)
    found: list[int] = []
    limit_s = 0.25
    # Until both have started within the limit.
    while len(found) < 2:
        pids.write_text("")
        limit_s *= 2
        record = run_command(f"setsid sh {script} & sleep 60", ENVIRONMENT, limit_s)
        assert record["is_overdue"]
        assert "left" not in record
        found = [int(pid) for pid in pids.read_text().split()]
        assert not any(map(is_running, found))


def test_possible_leftovers_of_a_command_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    stubborn = [SimpleNamespace(pid=4194305, mark=ANY)]
    monkeypatch.setattr(process_leftovers, "marked_processes", lambda mark: stubborn)
    monkeypatch.setattr(process_leftovers, "end", lambda found: None)
    record = run_command("sleep 60", ENVIRONMENT, 0.2)
    left = "processes that it has started cannot be ended: 4194305"
    assert record["left"] == left
    assert _problem(record, 0.2) == f"was ended after 0.2 s; {left}"
    record["output"] = "first\nwaiting\n"
    said = f"was ended after 0.2 s; {left}; it printed last: waiting"
    assert _problem(record, 0.2) == said


def test_a_command_has_no_input() -> None:
    assert run_command("cat", ENVIRONMENT, 20)["output"] == ""
