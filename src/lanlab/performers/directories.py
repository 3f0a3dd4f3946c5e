"""Directories of a trial on a host, created and removed by the host's engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lanlab.performers.engine_host import EngineHost, cancel

_MAKE_S = 60.0
_REMOVE_S = 300.0


@contextmanager
def temporary(host: EngineHost, medium: str, *, for_server: bool = False) -> Iterator[str]:
    """
    A directory for one trial, removed with its content. If its engine was killed, the next trial of
    the same user there removes it.

    Args:
        medium: `disk` or `tmpfs`.
        for_server: Whether a server that runs as another user must reach it.

    Raises:
        EngineError: It cannot be made there.
    """
    request = {"type": "trial_directory", "medium": medium, "for_server": for_server}
    held = host.engine.start(request)
    try:
        yield str(held.wait_ready(_MAKE_S)["directory"])
    finally:
        cancel(host.engine, held, within_s=_REMOVE_S)
