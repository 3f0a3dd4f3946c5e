"""Commands around trials: how they are run and what is kept of them."""

from __future__ import annotations

import os
import time

from lanlab.run.commands import run_command

ENVIRONMENT = dict(os.environ)


def test_what_a_command_printed_is_kept_in_part() -> None:
    """The beginning and the end, and how long it was."""
    record = run_command("printf first; head -c 100000 /dev/zero; echo last", ENVIRONMENT, 20)

    assert record["exit_code"] == 0
    assert record["output_bytes"] == len("first") + 100_000 + len("last\n")
    assert record["output"].startswith("first")
    assert record["output"].endswith("last\n")
    assert "\0" not in record["output"]
    assert "bytes left out]" in record["output"]
    assert len(record["output"]) < 17_000


def test_a_process_in_the_background_is_not_waited_for() -> None:
    """It may be a server that the trials need; it holds the output open."""
    began = time.monotonic()
    record = run_command("sleep 30 & echo $!", ENVIRONMENT, 20)

    os.kill(int(record["output"]), 9)
    assert record["exit_code"] == 0
    assert time.monotonic() - began < 15


def test_a_command_that_prints_without_end_is_ended() -> None:
    """And so is one that closed its output, with all that it started."""
    for text in ("yes", "exec >&- 2>&-; sleep 100", "sleep 100 & wait"):
        record = run_command(text, ENVIRONMENT, 0.3)
        assert record["is_overdue"], text
        assert record["exit_code"] == -9
        assert record["elapsed_s"] < 10


def test_a_command_reads_nothing() -> None:
    """It cannot wait for the keyboard."""
    assert run_command("cat", ENVIRONMENT, 20)["output"] == ""
