"""The command that starts an engine on a host, over a connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Protocol

from lanlab.frozen import dataclass

#: ssh's exit code for its own failures, and for a remote program that was killed (ssh(1), "EXIT
#: STATUS").
SSH_FAILURE = 255


class EngineProcess(Protocol):
    """A started engine, with the interface of `subprocess.Popen`."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None
    returncode: int | None
    pid: int

    def wait(self, timeout: float | None = None) -> int | None: ...

    def kill(self) -> None: ...


@dataclass(frozen=True)
class EngineCommand:
    """The command that starts an engine on a host, over a connection."""

    #: Empty if `begin` starts the engine.
    argv: tuple[str, ...]
    #: Name of the host in messages, such as `alice@nas`.
    label: str
    #: The engine's output follows this line; output before it is from login scripts. `None`: no
    #: such line.
    after: str | None
    #: Interval, in seconds, of empty lines that tell the engine that it is still needed.
    heartbeat_s: float
    #: Returns why the connection ended; `None` while it is open.
    why_ended: Callable[[], str | None]
    begin: Callable[[], EngineProcess] | None = None
