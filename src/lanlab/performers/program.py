"""
Runs another program on a host: starts it, waits until it listens, and always ends it.

A host's command prefix replaces itself by the program, so the process started here is the program,
and its CPU time is the program's.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from lanlab import linux
from lanlab.errors import RunError, UnmetNeed
from lanlab.pipes import flood, run_briefly

if TYPE_CHECKING:
    from lanlab.testbeds.remote.programs import StartedThere

_POLL_S = 0.002
_END_WITHIN_S = 5.0
#: Longest output of a driver; with its errors it must fit into a record.
_MOST_FILE_BYTES = 32 * 2**20
#: Below the ephemeral ports of Linux and IANA (32768 and up), so that no connection takes one in
#: between; above those of services.
_PORTS = (20_000, 32_000)
#: The output of `times` in a POSIX shell, as in `0m1.250s 0m0.310s`: user and system time.
_TIMES = re.compile(r"(\d+)m([\d.]+)s (\d+)m([\d.]+)s")


def started_on(
    prefix: Sequence[str], argv: Sequence[str], processor: int | None = None
) -> list[str]:
    """The command that starts a program on a host, bound to a processor, and ended with lanlab.

    Raises:
        UnmetNeed: A processor is given and this system has no `taskset`.
    """
    command = list(prefix)
    # Ends the program if lanlab is killed, on a host that is this machine.
    setpriv = shutil.which("setpriv")
    if setpriv is not None:
        command += [setpriv, "--pdeathsig", "KILL", "--"]
    if processor is not None:
        taskset = shutil.which("taskset")
        if taskset is None:
            raise UnmetNeed(
                "binding a tool to a processor needs `taskset`, not found on PATH",
                hint="apt install util-linux",
            )
        command += [taskset, "--cpu-list", str(processor)]
    return [*command, *argv]


class Program:
    """A running program. Its output and errors go to files, so that it never blocks; the system
    ends a program that writes more than `_MOST_FILE_BYTES` (setrlimit(2)).
    """

    def __init__(self, name: str, argv: Sequence[str], first_line: str = "") -> None:
        """
        Args:
            first_line: The program's input, if any; it ends when its input closes.

        Raises:
            RunError: The system cannot start it.
        """
        self.name = name
        self.argv = list(argv)
        # Closed by `end`.
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self._ended = threading.Event()
        self._cpu_s = (0.0, 0.0)
        self.began = time.monotonic()
        self.elapsed_s = 0.0
        try:
            self._process = subprocess.Popen(
                self.argv,
                stdin=subprocess.PIPE if first_line else subprocess.DEVNULL,
                stdout=self._out,
                stderr=self._err,
                # Ctrl-C in the terminal is for lanlab, which then shuts down in order.
                start_new_session=True,
            )
        except OSError as error:
            self._close()
            raise RunError(f"`{name}` cannot be started: {error}") from None
        if self._process.stdin is not None:
            # If the program does not read it, its output shows that.
            with contextlib.suppress(OSError):
                self._process.stdin.write(first_line.encode())
                self._process.stdin.flush()
        _bound_files(self._process.pid)
        threading.Thread(target=self._reap, daemon=True).start()

    def _reap(self) -> None:
        # `Popen.wait` would discard the resource usage.
        _, status, usage = os.wait4(self._process.pid, 0)
        self.elapsed_s = time.monotonic() - self.began
        self._cpu_s = (usage.ru_utime, usage.ru_stime)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self._ended.set()

    @property
    def cpu_s(self) -> tuple[float, float] | None:
        """User and system time of an ended program, seconds; `None` if unknown."""
        return self._cpu_s

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The program's exit code, negative for a signal; `None` while it runs."""
        return self._process.returncode if self._ended.is_set() else None

    def wait(self, timeout_s: float) -> bool:
        """Wait until the program has ended; `False` if it has not within that time."""
        return self._ended.wait(timeout_s)

    def wait_for(self, words: str, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while (found := words in self.output()[0]) is False and self.exit_code is None:
            if time.monotonic() > deadline:
                break
            time.sleep(_POLL_S)
        return found

    def wait_childless(self, timeout_s: float) -> None:
        """Wait until the program has reaped its children, so that its CPU time includes theirs. If
        the kernel does not list them there is nothing to wait for.
        """
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        deadline = time.monotonic() + timeout_s
        with contextlib.suppress(OSError):
            while children.read_text().strip() and time.monotonic() < deadline:
                time.sleep(_POLL_S)

    def signal(self, number: signal.Signals) -> None:
        """Send the program a signal, unless it has ended."""
        if not self._ended.is_set():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._ended.wait(_END_WITHIN_S)

    def output(self) -> tuple[str, str]:
        return _content(self._out), _content(self._err)

    def close(self) -> None:
        self.end()
        self._close()

    def _close(self) -> None:
        process = getattr(self, "_process", None)
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        self._out.close()
        self._err.close()


class ProgramThere(Program):
    """
    A program of another host, over a connection: the local process is the connection's client.
    """

    def __init__(self, name: str, there: StartedThere) -> None:
        """
        Raises:
            RunError: The system cannot start the client.
        """
        super().__init__(name, there.argv, there.first_line)
        self._mark = there.mark

    def output(self) -> tuple[str, str]:
        """See `Program.output`; omits the output of login scripts before it begins."""
        out, err = super().output()
        _, mark, own = out.partition(f"{self._mark}\n")
        return (own if mark else out), "\n".join(self._errors_and_times(err)[0])

    @property
    def cpu_s(self) -> tuple[float, float] | None:
        """See `Program.cpu_s`; from the remote shell's last line, because the local client's does
        not count.
        """
        return self._errors_and_times(super().output()[1])[1]

    @staticmethod
    def _errors_and_times(text: str) -> tuple[list[str], tuple[float, float] | None]:
        lines = text.splitlines()
        found = _TIMES.fullmatch(lines[-1]) if len(lines) > 1 else None
        if found is None:
            return lines, None
        parts = [float(part) for part in found.groups()]
        return lines[:-2], (60 * parts[0] + parts[1], 60 * parts[2] + parts[3])


def _bound_files(pid: int) -> None:
    import resource

    # The process may have ended already.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (_MOST_FILE_BYTES, _MOST_FILE_BYTES))


def _content(file: IO[bytes]) -> str:
    # Read from the start without moving the position at which the program writes.
    data, offset = b"", 0
    while chunk := os.pread(file.fileno(), 1 << 20, offset):
        data += chunk
        offset += len(chunk)
    return data.decode(errors="replace")


def wait_listening(program: Program, transport: str, port: int, timeout_s: float) -> None:
    """
    Wait until the kernel lists a program's port, without guessing from time or output.

    Raises:
        RunError: It ended, or did not listen in that time; with what it wrote.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        if has_port(program.pid, transport, port):
            return
        if program.exit_code is not None:
            raise failure(program, "ended before it listened")
        if time.monotonic() > deadline:
            raise failure(program, f"does not listen on {transport} port {port}")
        time.sleep(_POLL_S)


def has_port(pid: int, transport: str, port: int) -> bool:
    """Whether a process listens on a port (TCP) or has it bound (UDP), on its own host."""
    tables = linux.socket_tables(linux.PROC / str(pid) / "net", linux.SOCKET_TABLES[transport])
    inodes = {one.inode for one in linux.sockets(tables) if _waits(one, transport, port)}
    # The table may contain another host's socket with the same number: on loopback, and before the
    # process has entered its host.
    with contextlib.suppress(OSError):
        return bool(inodes) and linux.holds_any(pid, inodes)
    return False


def _waits(one: linux.Socket, transport: str, port: int) -> bool:
    return (one.port, one.state) == (port, linux.WAITING_STATE[transport])


def _tables_of(prefix: Sequence[str], names: Sequence[str]) -> str:
    # Without IPv6 some files are missing; `cat` reports them and shows the others.
    return run_briefly([*prefix, "cat", *(f"/proc/net/{one}" for one in names)], 10).stdout


def wait_listening_there(
    program: Program, prefix: Sequence[str], transport: str, port: int, timeout_s: float
) -> None:
    """
    Wait until a port that was free on a remote host is in use.

    Raises:
        RunError: As in `wait_listening`.
    """
    deadline = time.monotonic() + timeout_s
    while not any(
        _waits(one, transport, port)
        for one in linux.sockets(_tables_of(prefix, linux.SOCKET_TABLES[transport]))
    ):
        if program.exit_code is not None:
            raise failure(program, "ended before it listened")
        if time.monotonic() > deadline:
            raise failure(program, f"does not listen on {transport} port {port}")


def free_ports(prefix: Sequence[str], count: int) -> int:
    """The first of `count` consecutive ports that are free on a host, over TCP and UDP.

    Raises:
        RunError: The host's tables cannot be read, or it has no such ports.
    """
    names = list(itertools.chain(*linux.SOCKET_TABLES.values()))
    if prefix:
        tables = _tables_of(prefix, names)
        if not tables:
            raise RunError("cannot list the ports of a host without /proc/net/tcp")
    else:
        tables = linux.socket_tables(linux.PROC / "net", names)
    taken = {one.port for one in linux.sockets(tables)}
    first, last = _PORTS
    candidates = list(range(first, last - count, count))
    random.shuffle(candidates)
    for port in candidates:
        if taken.isdisjoint(range(port, port + count)):
            return port
    raise RunError(f"no {count} free ports between {first} and {last}")


def failure(program: Program, what: str) -> RunError:
    if program.exit_code == -signal.SIGXFSZ:
        return RunError(f"`{program.name}` {flood(_MOST_FILE_BYTES)}")
    out, err = program.output()
    lines = [line.strip() for line in (err or out).splitlines() if line.strip()]
    said = f": {lines[-1]}" if lines else ""
    return RunError(f"`{program.name}` {what}{said}")
