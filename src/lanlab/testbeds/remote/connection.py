"""
A connection to a host by OpenSSH's own client, and the programs started through it.

The first session is the holder: its input is a pipe from lanlab, so it ends with lanlab, for any
reason. The others share its connection (`ControlMaster` of ssh_config(5)) through a socket in a
private directory. Everything else is the user's: configuration, agent, jump hosts, known hosts.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import stat
import subprocess
import threading
import time
from pathlib import Path

from lanlab.disk import remove_file
from lanlab.engine.command import SSH_FAILURE
from lanlab.errors import LabError, RunError, UsageError
from lanlab.pipes import Stalled, Tail, flood, write_within
from lanlab.testbeds.remote.destinations import Destination
from lanlab.testbeds.remote.refusals import by_hand_command, refusal
from lanlab.testbeds.tools import tool

#: Time in which TCP connects to the host, or to the first jump host.
_CONNECT_WITHIN_S = 10
_BEGIN_WITHIN_S = 30.0
_ANSWER_WITHIN_S = 20.0
#: Seconds of silence after which ssh probes the host; and number of unanswered probes after which
#: ssh gives up.
_ALIVE_INTERVAL_S, _ALIVE_QUESTIONS = 5, 3
_END_WITHIN_S = 3.0
_LAST_WORDS_WITHIN_S = 0.2
_CLOSED = "the host has closed its end of the ssh connection"
#: Maximum bytes that login scripts may print before the shell runs the given command.
_MOST_PRELUDE_BYTES = 65_536
_MOST_LINE_BYTES = 4096
_PIECE_BYTES = 65_536
#: Lets a POSIX shell read its script from the input. The login shell may be any: even within these
#: quotes csh and tcsh would take `!` for a history event and a line end for an error, and old ones
#: accept no word of more than 1024 bytes.
HOLDER = """exec sh -c 'read -r script; eval "$script"'"""
_HELLO = 'exec sh -c "echo hello"'


#: Connections being set up, for `give_up_connecting`.
_BEGUN: set[Connection] = set()


def give_up_connecting() -> None:
    """Abort the connections being set up; their threads raise an error."""
    for connection in list(_BEGUN):
        connection.terminate()


class Silent(Exception):
    """The time is over, or the connection has ended for the reason in the text."""


class Connection:
    """A connection to one host, until `close`."""

    def __init__(self, destination: Destination, folder: Path, script: str) -> None:
        """
        Args:
            folder: A private directory, for the connection's socket.
            script: The holder's script, for a POSIX shell: one line. `$0` is the mark that it must
                write on a separate line first.

        Raises:
            LabError: The host cannot be reached, or its shell does not run the command.
        """
        assert destination.ssh is not None
        self.destination = destination
        self._socket = folder / secrets.token_hex(4)
        self._mark = f"lanlab-{secrets.token_hex(8)}"
        self._buffer = bytearray()
        self.prelude = ""
        self._closing = False
        words = [*self._client("-o", "ControlMaster=yes"), f"{HOLDER} {self._mark}"]
        try:
            self._holder = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                # Ctrl-C in the terminal is for lanlab, which ends its connections in order.
                start_new_session=True,
            )
        except OSError as error:
            raise RunError(f"cannot start `{words[0]}`: {error.strerror}") from error
        assert self._holder.stderr is not None
        self._errors = Tail(self._holder.stderr, f"{self.label} errors", self._holder.kill)
        _BEGUN.add(self)
        try:
            self._give(script)
            self._await_mark()
        except BaseException:
            self.close()
            raise

    def _client(self, *options: str) -> list[str]:
        port = [] if self.destination.port is None else ["-p", str(self.destination.port)]
        fixed = {
            # No user could answer a prompt of ssh.
            "BatchMode": "yes",
            "ConnectTimeout": str(_CONNECT_WITHIN_S),
            "ControlPath": str(self._socket),
            "ControlPersist": "no",
            "ServerAliveInterval": str(_ALIVE_INTERVAL_S),
            "ServerAliveCountMax": str(_ALIVE_QUESTIONS),
            # Options in a user's configuration that are meant for interactive sessions.
            "ClearAllForwardings": "yes",
            "ForkAfterAuthentication": "no",
            "LogLevel": "ERROR",
            "PermitLocalCommand": "no",
            "RemoteCommand": "none",
            "RequestTTY": "no",
            "SessionType": "default",
            "StdinNull": "no",
        }
        written = [word for key, value in fixed.items() for word in ("-o", f"{key}={value}")]
        assert self.destination.ssh is not None
        return [tool("ssh"), *written, *options, "-axT", *port, "--", self.destination.ssh]

    def _give(self, script: str) -> None:
        assert self._holder.stdin is not None
        with contextlib.suppress(OSError):
            self._holder.stdin.write(f"{script.strip()}\n".encode())

    def command(self, *words: str) -> tuple[str, ...]:
        """The command that starts a program on the host through this connection; like ssh, it joins
        further arguments with spaces.
        """
        return (*self._client("-o", "ControlMaster=no"), *words)

    def marked_command(self, path: str) -> tuple[str, tuple[str, ...]]:
        """A line, and the command that starts a program whose output begins after this line."""
        mark = f"lanlab-{secrets.token_hex(8)}"
        return mark, self.command(f"echo {mark}; exec {path}")

    def _await_mark(self) -> None:
        deadline = time.monotonic() + _BEGIN_WITHIN_S
        prelude: list[str] = []
        octets = 0
        try:
            while (line := self._line(deadline)) != self._mark:
                prelude.append(line)
                octets += len(line)
                if octets > _MOST_PRELUDE_BYTES:
                    raise UsageError(
                        f"{self.label}: the host's login scripts print endlessly",
                        hint=f"check the output of `{by_hand_command(self.destination)}`",
                    )
        except Silent:
            raise self._not_begun(prelude) from None
        self.prelude = "\n".join(prelude)

    def _not_begun(self, prelude: list[str]) -> LabError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._holder.wait(1.0)
        self._errors.join()
        if self._errors.is_flood:
            return RunError(f"{self.label}: the ssh connection {flood()}", host=self.label)
        said = self._errors.text()
        # Once a session has begun, an error is not a failure to connect.
        if prelude or self._holder.returncode not in (None, SSH_FAILURE):
            found = (prelude or said.splitlines() or ["nothing"])[-1]
            return UsageError(
                f"{self.label}: the login does not run commands: it printed `{found[:200]}`",
                hint=f"`{by_hand_command(self.destination, _HELLO)}` must print `hello`",
            )
        return refusal(self.destination, said, self._holder.returncode)

    def _line(self, deadline: float) -> str:
        while b"\n" not in self._buffer:
            if len(self._buffer) > _MOST_LINE_BYTES:
                # Each part of a longer line counts as a line.
                break
            pipe = self._holder.stdout
            assert pipe is not None
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([pipe], [], [], left_s)[0]:
                raise Silent
            piece = os.read(pipe.fileno(), _PIECE_BYTES)
            if not piece:
                # The connection ends, too, unless the host has only closed its output.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._holder.wait(_LAST_WORDS_WITHIN_S)
                raise Silent(_CLOSED)
            self._buffer += piece
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        return line.decode(errors="replace").rstrip("\r")

    def next_line(self, within_s: float = _ANSWER_WITHIN_S) -> str:
        """
        The holder's next line.

        Raises:
            RunError: There is none in time, or the connection has ended.
        """
        try:
            return self._line(time.monotonic() + within_s)
        except Silent as silent:
            why = self.why_ended() or str(silent) or f"no answer within {within_s:g} s"
            raise RunError(f"{self.label}: {why}", host=self.label) from None

    def send(self, octets: bytes, within_s: float = _ANSWER_WITHIN_S) -> None:
        """
        Send the holder bytes.

        Args:
            within_s: Time for all of them; 0: do not wait.

        Raises:
            RunError: The connection has ended, or the host does not read them in time.
        """
        pipe = self._holder.stdin
        assert pipe is not None
        try:
            write_within(pipe, octets, within_s, _ANSWER_WITHIN_S)
        except Stalled as stalled:
            why = self.why_ended() or f"the host does not take what is sent to it: {stalled}"
            raise RunError(f"{self.label}: {why}", host=self.label) from None
        except OSError:
            why = self.why_ended() or _CLOSED
            raise RunError(f"{self.label}: {why}", host=self.label) from None

    @property
    def label(self) -> str:
        return self.destination.label

    def why_ended(self) -> str | None:
        """Why the connection ended; `None` while it is open."""
        if self._closing:
            return "the connection was closed"
        if self._holder.poll() is None and not self._is_ending():
            return None
        self._errors.join(_LAST_WORDS_WITHIN_S)
        if self._errors.is_flood:
            return f"the ssh connection {flood()}"
        last = self._errors.last_line()
        return f"the ssh connection ended{f': {last[:200]}' if last else ''}"

    def _is_ending(self) -> bool:
        return not self._socket.exists()

    def settle(self) -> None:
        """Mark the connection as set up, so that `give_up_connecting` does not abort it."""
        _BEGUN.discard(self)

    def terminate(self) -> None:
        self._holder.terminate()

    def begin_close(self) -> None:
        """Let the holder end; `close` waits for it."""
        self._closing = True
        self.settle()
        if self._holder.stdin is not None:
            with contextlib.suppress(OSError):
                self._holder.stdin.close()

    def close(self) -> None:
        """End the connection and all that was started through it. Calling it again does nothing."""
        self.begin_close()
        try:
            self._holder.wait(_END_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._holder.terminate()
            try:
                self._holder.wait(_END_WITHIN_S)
            except subprocess.TimeoutExpired:
                self._holder.kill()
                self._holder.wait()
        if self._holder.stdout is not None:
            self._holder.stdout.close()
        self._errors.join()
        with contextlib.suppress(OSError):
            remove_file(self._socket, stat.S_ISSOCK)


class Heartbeat:
    """Sends holders keepalives from a separate thread, until `close`."""

    def __init__(self, connections: list[Connection], interval_s: float) -> None:
        self._connections, self._interval_s = connections, interval_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ssh heartbeat", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(self._interval_s):
            for connection in self._connections:
                with contextlib.suppress(LabError, ValueError):
                    # A host that does not read must not delay the others.
                    connection.send(b"\n", 0)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
