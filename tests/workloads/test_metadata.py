"""Trials of metadata at the embedded servers: what they count, and what they leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from copying import LEAD_S, before_request, working_directories
from file_servers import EMBEDDED, SECRET, Served
from trial_running import Pair

from lanlab.performers import EngineHost, perform_between
from lanlab.workloads import WORKLOADS, CounterChanges, TrialOutcome
from lanlab.workloads.metrics import OPERATIONS
from lanlab.workloads.services import server_url

pytestmark = pytest.mark.usefixtures("cache")

FILES, CLIENTS, WIDTH = 12, 2, 2
#: Requests that each operation needs, as tshark counts them.
EXCHANGES = {
    "sftp": {"create": 2, "stat": 1, "open": 2, "rename": 1, "remove": 1},
    "smb": {"create": 2, "stat": 2, "open": 2, "rename": 3, "remove": 2},
    "webdav": {"create": 1, "stat": 1, "open": 1, "rename": 1, "remove": 1},
}
#: What each service lacks.
LACKS = {name: {"make_directory", "rename", "remove_directory"} for name in ("s3", "s3s")}


def metadata(pair: Pair, server: str, trust: str | None = None) -> TrialOutcome:
    """One trial at a server of the test's."""
    server_url.remember_password(server, SECRET)
    kind = WORKLOADS["metadata"]
    parameters = {"files": FILES, "client_count": CLIENTS, "tree_width": WIDTH, "tree_depth": 1}
    asked = kind.Parameters.model_validate({"server": server, "trust": trust, **parameters})
    hosts = [EngineHost(one, "127.0.0.1", one.describe()["boot_id"]) for one in pair.engines]
    return perform_between(kind, asked, *hosts, LEAD_S)


def trial(pair: Pair, service: str, root: Path) -> dict[str, Any]:
    """The result of the client of a trial that must not fail, with its metrics."""
    if service == "directory":
        outcome = metadata(pair, root.as_uri())
    else:
        service, _, options = service.partition("?")
        with Served(pair.engines[1], service, root) as (url, trust):
            outcome = metadata(pair, url.rstrip("/") + ("?" + options if options else "/"), trust)
    if outcome.error is not None:
        raise outcome.error
    kind = WORKLOADS["metadata"]
    metrics = kind.summarise(kind.Parameters(), outcome, CounterChanges())
    return {**outcome.results["client"], "metrics": metrics, "setup": outcome.setup}


@pytest.mark.parametrize("service", ["directory", *EMBEDDED, "smb1?dialect=core"])
def test_each_service_runs_its_operations_and_keeps_no_files(
    pair: Pair, root: Path, service: str
) -> None:
    """Files by operations on files, directories by the others; the file of the user stays."""
    (root / "letter").write_text("dear")
    found = trial(pair, service, root)

    directories = CLIENTS * (1 + WIDTH)
    of_directories = {"make_directory", "list", "remove_directory"}
    expected = {
        name: directories if name in of_directories else FILES
        for name in OPERATIONS
        if name not in LACKS.get(service, ())
    }
    assert {one["operation"]: one["operations"] for one in found["phases"]} == expected
    assert {one["operation"] for one in found["not_measured"]} == LACKS.get(service, set())
    assert all(one["time"]["min_ns"] > 0 for one in found["phases"])
    exchanges = {name: found["metrics"][f"{name}_exchanges"] for name in EXCHANGES.get(service, ())}
    assert exchanges == EXCHANGES.get(service, {})
    assert found["metrics"]["files_created_and_removed_per_s"] > 0
    # Each phase lasts at least as long as the calls of one client, one after the other.
    for one in found["phases"]:
        assert one["elapsed_ns"] * CLIENTS >= one["time"]["mean_ns"] * one["operations"]
    assert [path.name for path in root.iterdir()] == ["letter"]


@pytest.mark.parametrize("service", ["directory", "webdav", "smb"])
def test_only_names_of_the_trial_are_removed(
    pair: Pair, root: Path, monkeypatch: pytest.MonkeyPatch, service: str
) -> None:
    """What a trial left in the middle of its work goes; what a stranger put beside it stays."""

    def put(_: Any) -> None:
        (working,) = working_directories(root)
        leaf = working / "files/c1/d0"
        leaf.mkdir(parents=True)
        for name in ("f0", "r1", "his"):
            (leaf / name).write_text("")

    before_request(monkeypatch, "metadata_empty", put)
    found = trial(pair, service, root)

    (working,) = working_directories(root)
    assert [path.name for path in working.rglob("*") if path.is_file()] == ["his"]
    assert not found["setup"]["emptied"]["is_gone"]
