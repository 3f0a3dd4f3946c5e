"""Trials of a copy between two engines on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from file_servers import SECRET

from lanlab.engine import Engine
from lanlab.errors import EngineError
from lanlab.workloads import (
    WORKLOADS,
    CounterChanges,
    End,
    Exchange,
    Progress,
    copy_server,
    copy_trial,
)
from lanlab.workloads.copy import CopyParameters

LEAD_S = 0.02


def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for datasets and directories of trials of the test's own."""
    monkeypatch.setenv("LANLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("lanlab.workloads.copy_trial._checked", set())
    for name in ("LANLAB_PASSWORD", "LANLAB_PASSWORD_FILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


def copy(
    engines: tuple[Engine, Engine],
    on_progress: Callable[[Progress], None] | None = None,
    **parameters: Any,
) -> Exchange:
    """One trial, over loopback; a password that is needed is that of the tests' servers."""
    if "server" in parameters and "://" in parameters["server"]:
        copy_server.remember_password(parameters["server"], parameters.pop("secret", SECRET))
    kind = WORKLOADS["copy"]
    asked = kind.Parameters.model_validate({"dataset": "5x20kB+1x300kB", **parameters})
    source, target = (End(engine, "127.0.0.1", engine.describe()["boot_id"]) for engine in engines)
    return kind.run(asked, source, target, LEAD_S, on_progress)


def metrics_of(exchange: Exchange) -> dict[str, float | int]:
    """The results of a trial, which must not have failed."""
    if exchange.error is not None:
        raise exchange.error
    return WORKLOADS["copy"].summarise(CopyParameters(), exchange, CounterChanges())


def failure_of(exchange: Exchange) -> EngineError:
    """Why a trial failed, which must say what to do and no password."""
    error = exchange.error
    assert isinstance(error, EngineError), error
    assert SECRET not in f"{error.message} {error.hint}"
    return error


def before_request(
    monkeypatch: pytest.MonkeyPatch, kind: str, act: Callable[[dict[str, Any]], None]
) -> None:
    """Have something happen between the steps of a trial: before the first request of a kind."""
    asking = copy_trial._Asking
    plain, armed = asking.__call__, asking.armed
    seen: list[str] = []

    def notice(request: dict[str, Any]) -> None:
        # A start that came too late is asked for again.
        if request["type"] == kind and not seen:
            seen.append(kind)
            act(request)

    def ask(self: Any, request: dict[str, Any]) -> dict[str, Any]:
        notice(request)
        return plain(self, request)

    def arm(self: Any, request: dict[str, Any], lead_s: float) -> dict[str, Any]:
        notice(request)
        return armed(self, request, lead_s)

    monkeypatch.setattr(asking, "__call__", ask)
    monkeypatch.setattr(asking, "armed", arm)
