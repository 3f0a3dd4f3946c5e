"""A running server on a host, from its start to its end."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lanlab import linux
from lanlab.closing import Closing
from lanlab.disk import TemporaryFolder
from lanlab.errors import RunError
from lanlab.pipes import Tail, write_within
from lanlab.testbeds import process_leftovers
from lanlab.testbeds.base import Host
from lanlab.testbeds.servers.base import Credentials, Launch

KEEPER = Path(__file__).with_name("keeper.py")
#: Starting Python on a host and finding ports takes 0.1 s on an idle machine.
_ANSWER_WITHIN_S = 20.0
_LISTEN_WITHIN_S = 30.0
#: The keeper ends a server in order within 2 s and kills it within 5 s more.
_END_WITHIN_S = 10.0
_LOG_BYTES = 4096
_LAST_WORDS_WITHIN_S = 0.2


class Keeper:
    """The process on the host that starts the server, and ends it with lanlab; see `keeper.py`."""

    def __init__(
        self, host: Host, settings: dict[str, object], folders: Sequence[TemporaryFolder]
    ) -> None:
        """
        Args:
            folders: Folders that the keeper removes at the end as well.

        Raises:
            RunError: It cannot be started there, or refuses; nothing is left behind.
        """
        self.host = host
        self._folders = folders
        settings = {**settings, "remove": [str(folder.path) for folder in folders]}
        self._known: dict[int, linux.Process] = {}
        self._is_closed = False
        argv = [*host.command_prefix, sys.executable, "-I", str(KEEPER), json.dumps(settings)]
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # On a host of the virtual testbed the prefix replaces this mark by the testbed's.
                env={
                    **os.environ,
                    process_leftovers.MARK: process_leftovers.new_mark(),
                    "LC_ALL": "C",
                },
                start_new_session=True,
            )
        except OSError as error:
            message = f"{host.name}: cannot start `{argv[0]}`: {error.strerror}"
            raise RunError(message, host=host.name) from None
        assert self._process.stderr is not None
        # The output of a server is read as long as it runs, so that it never blocks on a full pipe.
        self._errors = Tail(self._process.stderr, f"{host.name} server errors")
        # A testbed closed first kills its hosts' processes; the rest is left to this.
        atexit.register(self.close)
        try:
            self.ports: list[int] = self._answer(_ANSWER_WITHIN_S)["ports"]
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self, argv: list[str], port: int, clean_up: Sequence[str] = ()) -> int:
        """Start the server; returns its process id once it listens.

        Raises:
            RunError: It does not listen in time.
        """
        program = {"argv": argv, "port": port, "clean_up": list(clean_up)}
        program["within_s"] = _LISTEN_WITHIN_S
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            line = json.dumps(program).encode() + b"\n"
            write_within(self._process.stdin, line, _ANSWER_WITHIN_S)
        pid: int = self._answer(_LISTEN_WITHIN_S + _ANSWER_WITHIN_S)["pid"]
        self.tree()
        return pid

    def tree(self) -> list[linux.Process]:
        """The keeper and its descendants; empty once it has ended."""
        found = linux.tree(self.pid) if self._process.poll() is None else []
        self._known |= {each.pid: each for each in found[1:]}
        return found

    def _answer(self, within_s: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], within_s)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            how = "ended" if ready else f"did not answer within {within_s:g} s"
            raise RunError(f"the process that holds it {how}{self.said()}", host=self.host.name)
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RunError(answer["error"], host=self.host.name)
        return answer

    def said(self) -> str:
        """The last line of the keeper's and server's standard error, after a colon; or empty."""
        # The server's last message may still be in the pipe.
        self._errors.join(_LAST_WORDS_WITHIN_S)
        last = self._errors.last_line()[:_LOG_BYTES]
        return f": {last}" if last else ""

    def close(self) -> None:
        """End the keeper, and with it the server. Idempotent.

        Raises:
            RunError: A process is stuck in the kernel.
        """
        if self._is_closed:
            return
        self._is_closed = True
        atexit.unregister(self.close)
        self.tree()
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        try:
            self._process.wait(_END_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.tree()
            self._process.kill()
            self._process.wait()
        finally:
            assert self._process.stdout is not None
            self._process.stdout.close()
            for folder in self._folders:
                folder.remove()
        # Usually empty, unless the keeper was killed or a process is stuck in the kernel.
        left = linux.still_there(list(self._known.values()))
        if stuck := process_leftovers.end(
            [process_leftovers.Leftover(each.pid, "") for each in left]
        ):
            pids = ", ".join(str(each.pid) for each in stuck)
            raise RunError(
                f"cannot end processes of a server: {pids}",
                hint="the kernel holds them",
                host=self.host.name,
            )


class RunningServer(Closing):
    """A server that runs until `close`, or until lanlab ends, for any reason."""

    def __init__(
        self, name: str, service: str, version: str, keeper: Keeper, launch: Launch
    ) -> None:
        self.name = name
        self.service = service
        self.version = version
        self.port = launch.port
        #: Share of SMB, export of NFS; `None` where the service has none.
        self.share = launch.share
        #: SHA-256 of the certificate (DER) or of the host key's public blob, in hexadecimal.
        self.trust_sha256 = launch.trust_sha256
        #: The user to log in as; for OpenSSH not the requested one, see `openssh.py`.
        self.credentials: Credentials | None = launch.credentials
        self.other_ports = launch.other_ports
        self._keeper = keeper
        self._cpu_s = 0.0

    @property
    def host(self) -> Host:
        return self._keeper.host

    @property
    def keeper_pid(self) -> int:
        """Id of the server's keeper process, the ancestor of all its processes."""
        return self._keeper.pid

    def pids(self) -> list[int]:
        """The server's current processes without the keeper; empty after `close`."""
        return [process.pid for process in self._keeper.tree()[1:]]

    def cpu_s(self) -> float:
        """
        User and system time of all the server's processes so far, seconds; in steps of 10 ms for
        those that have ended.

        It covers living processes and those that were waited for when they ended. The system
        forgets the time of a process whose parent ignores `SIGCHLD`, but no server here does that.
        Interrupts and kernel threads that carry its packets are not included. After `close` it is
        the last value.
        """
        found = self._keeper.tree()
        if found:
            keeper, own = found[0], found[1:]
            used = keeper.children_cpu_s + sum(each.cpu_s + each.children_cpu_s for each in own)
            self._cpu_s = max(self._cpu_s, used)
        return self._cpu_s

    def close(self) -> None:
        """End the server: its processes, connections and files. Idempotent.

        Raises:
            RunError: A process is stuck in the kernel.
        """
        self.cpu_s()
        self._keeper.close()
