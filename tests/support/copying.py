"""Trials of a copy between two engines on this machine."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from file_servers import SECRET

from lanlab.engine import Engine, Measurement
from lanlab.errors import EngineError
from lanlab.performers import EngineHost, perform_between
from lanlab.workloads import WORKLOADS, CounterChanges, Progress, TrialOutcome
from lanlab.workloads.copy.parameters import CopyParameters
from lanlab.workloads.services import server_url

LEAD_S = 0.02


def copy(
    engines: tuple[Engine, Engine],
    on_progress: Callable[[Progress], None] | None = None,
    **parameters: Any,
) -> TrialOutcome:
    """One trial, over loopback; a password that is needed is that of the tests' servers."""
    if "server" in parameters and "://" in parameters["server"]:
        server_url.remember_password(parameters["server"], parameters.pop("secret", SECRET))
    kind = WORKLOADS["copy"]
    asked = kind.Parameters.model_validate({"dataset": "5x20kB+1x300kB", **parameters})
    hosts = [EngineHost(engine, "127.0.0.1", engine.describe()["boot_id"]) for engine in engines]
    return perform_between(kind, asked, *hosts, LEAD_S, on_progress)


def working_directories(root: Path) -> list[Path]:
    """The directories of trials in a server's directory, by either kind of name."""
    return [
        path
        for path in root.iterdir()
        if path.is_dir() and (path.name.startswith("lanlab-") or path.suffix == ".lab")
    ]


def mark_of(working: Path) -> Path:
    return working / ("mark.lab" if working.suffix == ".lab" else "lanlab-mark")


def metrics_of(outcome: TrialOutcome) -> dict[str, float | int]:
    if outcome.error is not None:
        raise outcome.error
    return WORKLOADS["copy"].summarise(CopyParameters(), outcome, CounterChanges())


def failure_of(outcome: TrialOutcome) -> EngineError:
    error = outcome.error
    assert isinstance(error, EngineError), error
    assert SECRET not in f"{error.message} {error.hint}"
    return error


def before_request(
    monkeypatch: pytest.MonkeyPatch, kind: str, act: Callable[[dict[str, Any]], None]
) -> None:
    """Have something happen between the steps of a trial: before the first request of a kind."""
    start = Engine.start
    seen: list[str] = []

    def notice(self: Engine, request: Mapping[str, Any], **more: Any) -> Measurement:
        # A start that came too late is asked for again.
        if request["type"] == kind and not seen:
            seen.append(kind)
            act(dict(request))
        return start(self, request, **more)

    monkeypatch.setattr(Engine, "start", notice)
