"""Copies and stations at a server that was there before, on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import Lanlab
from file_servers import SECRET, Served

from lanlab.engine import Engine, engine_path
from lanlab.store import open_store
from lanlab.testbeds.servers import listening

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc/net/tcp is Linux's")


@pytest.mark.parametrize("command", ["copy", "stations"])
def test_the_cpu_time_of_a_server_on_this_machine_is_the_server_s(
    command: str, lanlab: Lanlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of its own, which no trial started; without it, its work would be others'."""
    monkeypatch.setenv("LANLAB_PASSWORD", SECRET)
    root = tmp_path / "served"
    root.mkdir()
    files = ("200x20kB",) if command == "copy" else ()
    more = () if command == "copy" else ("--stations", "2", "--readings", "300")
    with Engine("server", [engine_path()]) as engine, Served(engine, "webdav", root) as (url, _):
        said = lanlab(command, *files, url, *more, "--trials", "1", "--json")

    assert said.code == 0, said.err
    with open_store(None) as store:
        [trial] = store.trials(said.json()["run"])
    assert trial.raw["server"]["cpu_s"] > 0
    # What the judgement takes for the trial's own.
    assert trial.raw["server"]["cpu"]["user_ns"] == round(1e9 * trial.raw["server"]["cpu_s"])
    assert "foreign_cpu" not in trial.raw["pollution"]["unknown"]


def test_a_server_whose_processes_cannot_be_seen_is_named(
    lanlab: Lanlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is not known what others did, and nothing is called disturbed for it."""
    monkeypatch.setenv("LANLAB_PASSWORD", SECRET)
    monkeypatch.setattr(listening, "_processes_with", lambda inodes: (set(), True))
    root = tmp_path / "served"
    root.mkdir()
    with Engine("server", [engine_path()]) as engine, Served(engine, "webdav", root) as (url, _):
        said = lanlab("copy", "5x20kB", url, "--trials", "1", "--json")

    assert said.code == 0, said.err
    [trial] = said.json()["trials"]
    assert "server_cpu_s" not in trial
    assert "foreign_cpu" in trial["pollution"]["unknown"]
    assert "foreign_cpu" not in [found["code"] for found in trial["pollution"]["findings"]]
    assert "this user may not see which processes hold the server's sockets" in said.err
