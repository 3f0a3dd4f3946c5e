"""Copies and stations at a server that was there before, on this machine."""

from pathlib import Path

import pytest
from command_line import Lanlab
from file_servers import SECRET, Served

from lanlab.engine import Engine, engine_path
from lanlab.store import open_store
from lanlab.testbeds.servers import listening


@pytest.mark.parametrize("command", ["copy", "stations"])
def test_processor_time_of_a_local_server_is_attributed_to_it(
    command: str, lanlab: Lanlab, served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", SECRET)
    files = ("200x20kB",) if command == "copy" else ()
    more = () if command == "copy" else ("--stations", "2", "--readings", "300")
    with Engine("server", [engine_path()]) as engine, Served(engine, "webdav", served) as (url, _):
        said = lanlab(command, *files, url, *more, "--trials", "1", "--json")

    assert said.code == 0, said.err
    with open_store(None) as store:
        [trial] = store.trials(said.json()["run"])
    assert trial.raw["server"]["cpu_s"] > 0
    # What the judgement takes for the trial's own.
    assert trial.raw["server"]["cpu"]["user_ns"] == round(1e9 * trial.raw["server"]["cpu_s"])
    assert "foreign_cpu" not in trial.raw["pollution"]["unknown"]


def test_a_local_server_with_hidden_processes_is_reported(
    lanlab: Lanlab, served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", SECRET)
    monkeypatch.setattr(listening, "_processes_with", lambda inodes: (set(), True))
    with Engine("server", [engine_path()]) as engine, Served(engine, "webdav", served) as (url, _):
        said = lanlab("copy", "5x20kB", url, "--trials", "1", "--json")

    assert said.code == 0, said.err
    [trial] = said.json()["trials"]
    assert "server_cpu_s" not in trial
    assert "foreign_cpu" in trial["pollution"]["unknown"]
    assert "foreign_cpu" not in [found["code"] for found in trial["pollution"]["findings"]]
    assert "this user may not see which processes hold the server's sockets" in said.err


def test_servers_are_measured_in_random_blocks_and_ranked(
    lanlab: Lanlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", SECRET)
    monkeypatch.setenv("LANLAB_CACHE", str(tmp_path / "cache"))
    roots = [tmp_path / name for name in ("webdav", "ftp", "nas")]
    for root in roots:
        root.mkdir()
    with (
        Engine("server", [engine_path()]) as engine,
        Served(engine, "webdav", roots[0]) as (webdav, _),
        Served(engine, "ftp", roots[1]) as (ftp, _),
    ):
        said = lanlab("copy", "3x10kB", webdav, ftp, str(roots[2]), "--trials", "3", "--seed", "5")

    assert said.code == 0, said.err
    assert "scan: 3 targets = 3 conditions x 3 trials" in said.err
    [ranked] = [line for line in said.out.splitlines() if line.startswith("Goodput, fastest mean")]
    assert all(name in ranked for name in ("WebDAV", "FTP", str(roots[2])))
    with open_store(None) as store:
        [run] = store.runs()
        trials = store.trials(run.id)
    assert {trial.factors["server"] for trial in trials} == {webdav, ftp, roots[2].as_uri()}
    assert {trial.parameters["service"] for trial in trials} == {"webdav", "ftp", "directory"}
    assert [trial.status for trial in trials] == ["done"] * 9
    for block in range(3):
        own = [trial.factors["server"] for trial in trials if trial.block == block]
        assert len(own) == len(set(own)) == 3
    assert not any(path for root in roots for path in root.rglob("*"))
