"""FTP servers of DOS hold names of 8 characters, a dot and 3 alone."""

import time
from pathlib import Path

from copying import copy
from dos_ftp_server import dos_ftp_server
from trial_running import Pair

from lanlab.errors import EngineError


def test_a_server_of_short_names_is_measured_and_left_clean(pair: Pair, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    for direction in ("upload", "download"):
        with dos_ftp_server(disk) as (port, commands):
            outcome = copy(
                pair.engines,
                server=f"ftp://127.0.0.1:{port}/",
                dataset="3x6kB",
                direction=direction,
                timeout_s=5.0,
            )
        assert outcome.error is None, (outcome.error, commands)
        assert list(disk.iterdir()) == [], commands


def test_a_server_that_refuses_directories_is_not_cleaned_up(pair: Pair, tmp_path: Path) -> None:
    began = time.monotonic()
    with dos_ftp_server(tmp_path, is_read_only=True) as (port, commands):
        outcome = copy(pair.engines, server=f"ftp://127.0.0.1:{port}/", dataset="3x6kB")
    assert isinstance(outcome.error, EngineError)
    assert "write-protected" in outcome.error.message
    refused = next(place for place, one in enumerate(commands) if one.startswith("MKD"))
    assert not any(one.startswith(("RMD", "DELE", "LIST")) for one in commands[refused:]), commands
    assert "not_emptied" not in outcome.setup
    assert time.monotonic() - began < 10
