"""What a store, a study or an engine says is shown on a terminal and commands nothing there."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import COMMAND, Said, environment

from lanlab.cli.terminal.remarks import printable
from lanlab.store import open_store
from lanlab.store.records import RunRecord, TrialRecord

#: Sets the title, clears the screen, answers a question of its own, turns the line round.
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b6n\x7f\r\u202etxt"
#: Those of Unicode turn the line round, or a part of it.
OF_UNICODE = (0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
CONTROLS = [
    chr(code) for code in (*range(9), 11, 12, *range(14, 32), *range(0x7F, 0xA0), *OF_UNICODE)
]


def apart(*args: str, **changes: str) -> Said:
    """What a command of a process of its own comes to, read octet for octet."""
    done = subprocess.run(
        [*COMMAND, *args], env=environment(**changes), capture_output=True, timeout=240
    )
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def acts(text: str) -> list[str]:
    return [repr(control) for control in CONTROLS if control in text]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    run = RunRecord(
        id="20261121-081500-small-4f2a",
        study_id=ESCAPES,
        study={"schema": 1},
        scale=ESCAPES,
        seed=1,
        testbed={"name": ESCAPES, "link": ESCAPES, "link_rate_bps": None, "facts": {}},
        versions={},
        status="running",
        started_at=ESCAPES,
    )
    trial = TrialRecord(
        run_id=run.id, number=0, experiment=ESCAPES, workload=ESCAPES, factors={ESCAPES: ESCAPES},
        parameters={}, block=0, purpose="trial", status="failed", started_at=ESCAPES,
        elapsed_s=1.0, metrics={}, raw={}, error={"code": ESCAPES, "message": ESCAPES},
    )  # fmt: skip
    with open_store(str(path)) as opened:
        opened.start_run(run).release()
        opened.commit_trial(trial)
    return path


def test_no_escape_of_a_record_reaches_the_terminal(store: Path) -> None:
    listed = apart("runs", "--store", str(store))
    assert listed.code == 0
    assert not acts(listed.out + listed.err)
    assert "\\x1b]0;owned" in listed.out


def test_a_run_with_malformed_factors_is_listed(store: Path) -> None:
    with open_store(str(store)) as records:
        (trial,) = records.trials("last")
        factors: dict[str, Any] = {"rate_bps": [1]}
        records.commit_trial(replace(trial, number=1, factors=factors))
    listed = apart("runs", "--store", str(store))
    assert (listed.code, listed.err) == (0, "")
    assert "cannot be read" in listed.out


def test_json_escapes_control_characters(store: Path) -> None:
    listed = apart("runs", "--store", str(store), "--json")
    assert not acts(listed.out)
    assert json.loads(listed.out)["runs"][0]["testbed"] == ESCAPES


def test_an_unknown_run_is_refused_without_a_traceback(store: Path) -> None:
    for command in (["report", "last"], ["run", "--resume", "last"]):
        ended = apart(*command, "--store", str(store))
        assert ended.code in (1, 2), ended
        assert "Traceback" not in ended.err
        assert "error: " in ended.err
        assert not acts(ended.out + ended.err)


def test_errors_show_escapes_in_arguments(tmp_path: Path) -> None:
    ended = apart("show", ESCAPES)
    assert ended.code == 2
    assert not acts(ended.err)
    ended = apart("runs", "--store", str(tmp_path / ESCAPES))
    assert not acts(ended.out + ended.err)


def test_errors_show_escapes_in_engine_output(tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\nprintf '\\033]0;owned\\007\\033[2J\\n' >&2\nexit 3\n")
    engine.chmod(0o755)
    ended = apart("stream", "--testbed", "loopback", LANLAB_ENGINE=str(engine))
    assert ended.code == 1
    assert "ended with exit code 3" in ended.err
    assert not acts(ended.out + ended.err)


def test_control_characters_are_shown_and_letters_kept() -> None:
    assert printable("a\tµ\n…") == "a\tµ\n…"
    for control in (*CONTROLS, "\r"):
        assert control not in printable(control)
