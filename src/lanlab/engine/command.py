"""What starts an engine on a host that is reached over a connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Protocol

from lanlab.frozen import dataclass

#: Exit code of ssh for its own failures, and where the program there did not end by itself (ssh(1),
#: "EXIT STATUS").
SSH_FAILURE = 255


class EngineProcess(Protocol):
    """A started engine, as `subprocess.Popen` has it."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None
    returncode: int | None
    pid: int

    def wait(self, timeout: float | None = None) -> int | None: ...

    def kill(self) -> None: ...


@dataclass(frozen=True)
class EngineCommand:
    """The command of an engine on a host that is reached over a connection."""

    #: Empty if `begin` starts it.
    argv: tuple[str, ...]
    #: What the host is called in messages, as in `alice@nas`.
    label: str
    #: The line after which the engine speaks: what comes before it is of login scripts. `None`:
    #: nothing comes before.
    after: str | None
    #: How often an empty line is sent, seconds, so that the engine knows that it is still wanted.
    heartbeat_s: float
    #: Says why the connection ended; `None` while it stands.
    why_ended: Callable[[], str | None]
    begin: Callable[[], EngineProcess] | None = None
