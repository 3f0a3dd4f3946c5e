"""One engine process, and the communication with it."""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from lanlab.closing import Closing
from lanlab.engine.command import SSH_FAILURE, EngineCommand, EngineProcess
from lanlab.engine.lines import (
    MAX_LINE_BYTES,
    RESULT_KINDS,
    BadLine,
    bounded_lines,
    check_reply,
    read_line,
    skip_to,
)
from lanlab.engine.measurement import ENDS, Measurement
from lanlab.errors import EngineError, EngineLost
from lanlab.messages import Line, Result
from lanlab.pipes import Stalled, Tail, flood, write_within

SCHEMA_VERSION = 9

#: Time limit for an engine's first message, or for the answer to a simple request. After that it
#: counts as lost.
_ANSWER_S = 10.0
#: Total time for clock readings, and the fewest readings taken even if they need longer.
_PINGS_S, _FEWEST_PINGS = 0.4, 4
_END_S = 2.0
#: Time in which a killed or ending process disappears, unless the kernel blocks it.
_ENDING_S = 0.2
_LONGEST_LINE = 4096


#: The request of `Engine.describe`, to send it to several engines at once.
DESCRIBE: Mapping[str, object] = {"type": "describe"}


class Engine(Closing):
    """
    An engine process, driven over its standard input and output.

    Args:
        name: The host's name, for messages and errors.
        command: Starts the engine on that host.
        is_awaited: Whether to wait for its first message; otherwise `greet` does.

    Raises:
        EngineLost: It does not start, or its first message is not `hello`.
    """

    hello: Line

    def __init__(
        self, name: str, command: Sequence[str] | EngineCommand, *, is_awaited: bool = True
    ) -> None:
        remote = command if isinstance(command, EngineCommand) else None
        argv = list(remote.argv if remote is not None else command)  # type: ignore[arg-type]
        self.name = name
        self.label = name if remote is None else remote.label
        self._remote = remote
        self._ids = itertools.count(1)
        self._open: dict[int, Measurement] = {}
        self._lock = threading.Lock()
        self._lost = False
        self._closing = threading.Event()
        self._complaint = ""
        self._silent_s: float | None = None
        self._awaited: set[int] = set()
        self._hello: queue.SimpleQueue[Line | None] = queue.SimpleQueue()
        self._process: EngineProcess
        if remote is not None and remote.begin is not None:
            self._process = remote.begin()
        else:
            self._process = _begin(self.label, argv)
        assert self._process.stderr is not None
        self._errors = Tail(self._process.stderr, f"{name} stderr", self._process.kill)
        self._reader = threading.Thread(target=self._read, name=f"{name} stdout", daemon=True)
        self._beater: threading.Thread | None = None
        self._writing = threading.Lock()
        self._reader.start()
        if is_awaited:
            self.greet()

    def greet(self) -> None:
        """
        Wait for the engine's first message. Call once.

        Raises:
            EngineLost: It ended instead, or its first message is not `hello`.
        """
        try:
            self.hello = self._first_line()
        except BaseException:
            self.close()
            raise
        if self._remote is not None:
            self._beater = threading.Thread(
                target=self._beat, name=f"{self.name} heartbeat", daemon=True
            )
            self._beater.start()

    def _beat(self) -> None:
        assert self._remote is not None
        while not self._closing.wait(self._remote.heartbeat_s) and not self._lost:
            try:
                self._write(b"\n")
            except (OSError, ValueError):
                return

    def _write(self, octets: bytes) -> None:
        assert self._process.stdin is not None
        with self._writing:
            write_within(self._process.stdin, octets, _ANSWER_S)

    def _first_line(self) -> Line:
        try:
            line = self._hello.get(timeout=_ANSWER_S)
        except queue.Empty:
            raise EngineLost(
                f"{self.label}: the engine did not begin to speak within {_ANSWER_S:g} s",
                host=self.name,
            ) from None
        if line is None:
            raise self.lost()
        if line["type"] != "hello" or line.get("schema_version") != SCHEMA_VERSION:
            found = str(line.get("schema_version", "something else"))[:40]
            raise EngineLost(
                f"{self.label}: the engine uses message version {found}, lanlab uses "
                f"version {SCHEMA_VERSION}",
                hint="install lanlab and lanlab-engine of the same version",
            )
        try:
            check_reply(line)
        except BadLine as error:
            raise EngineLost(f"{self.label}: the engine's first line: {error}") from None
        return line

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            lines = bounded_lines(self._process.stdout, MAX_LINE_BYTES)
            if self._remote is not None and self._remote.after is not None:
                skip_to(lines, self._remote.after.encode())
            for number, octets in enumerate(lines):
                line = read_line(octets)
                if number == 0:
                    # An engine of another version may send anything else.
                    self._hello.put(line)
                else:
                    self._take(line)
        except BadLine as error:
            # The program is not an engine, so lanlab reads no more of its output.
            self._complaint = str(error)
        finally:
            with self._lock:
                self._lost = True
                open_measurements = list(self._open.values())
                self._open.clear()
            self._hello.put(None)
            for measurement in open_measurements:
                measurement.deliver(None)

    def _take(self, line: Line) -> None:
        check_reply(line)
        if line["type"] == "hello":
            raise BadLine("a second `hello`")
        is_end = line["type"] in ENDS
        with self._lock:
            if line["id"] is None and is_end:
                # The engine refused an unreadable line. It is unknown whose request that was, and
                # it would wait forever, so end all.
                found, self._open = list(self._open.values()), {}
            else:
                one = (self._open.pop if is_end else self._open.get)(line["id"] or 0, None)
                found = [] if one is None else [one]
        for measurement in found:
            measurement.deliver(line)

    def lost(self) -> EngineLost:
        # Invalid data may be the first half of a dying engine's last line; otherwise the engine
        # does not end by itself.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_ENDING_S if self._complaint else 1.0)
        code = self._process.returncode
        if code is not None:
            # The engine's last message may still be in the pipe.
            self._await_reader(self._errors)
        if self._errors.is_flood:
            how = flood()
        elif self._silent_s is not None:
            how = f"did not answer within {self._silent_s:g} s and was ended"
        elif self._remote is not None and (why := self._remote.why_ended()) is not None:
            how = f"was cut off: {why}"
        elif code == SSH_FAILURE and self._remote is not None:
            # ssh receives the signal that ended the program, but does not report it.
            how = "was ended there by a signal"
        elif code is None and self._complaint:
            how = f"said what is no message of an engine ({self._complaint})"
        elif code is None:
            how = "stopped answering"
        elif code < 0:
            how = f"was ended by signal {-code}"
        else:
            how = f"ended with exit code {code}"
        last = self._errors.last_line()[:_LONGEST_LINE]
        said = f": {last}" if last and not self._errors.is_flood else ""
        return EngineLost(f"{self.label}: the engine {how}{said}", host=self.name)

    def _await_reader(self, reader: Tail | threading.Thread) -> None:
        """
        Wait once for the rest of a pipe: ssh passes its pipes to the shared connection, and until
        that ends a thread may still read.
        """
        if id(reader) not in self._awaited:
            self._awaited.add(id(reader))
            reader.join(_END_S)

    def give_up(self, silent_s: float) -> EngineLost:
        """End an engine that has not answered for `silent_s`, and return the error.

        A stopped or hanging engine cannot measure, and would delay every further request by the
        same time.
        """
        if not self._lost:
            # The engine may have ended unnoticed; that is then the cause.
            try:
                self._process.wait(timeout=_ENDING_S)
            except subprocess.TimeoutExpired:
                self._silent_s = silent_s
                self._process.kill()
            self._await_reader(self._reader)
            # If the kernel blocks the process, or another process holds its pipe, do not wait for
            # it again.
            self._lost = True
        return self.lost()

    @property
    def is_lost(self) -> bool:
        return self._lost

    @property
    def pid(self) -> int:
        """Id of the started process: the engine, or a command that leads to it."""
        return self._process.pid

    def start(
        self,
        request: Mapping[str, object],
        on_data: Callable[[Line], None] | None = None,
        asked: list[Measurement] | None = None,
    ) -> Measurement:
        """
        Send a request.

        Args:
            on_data: Called with each line of data. Set before the request is sent, because an
                engine may answer at once.
            asked: Receives the request before it is sent, because an interrupt may follow at once.

        Raises:
            EngineLost: The engine has ended.
        """
        kind = RESULT_KINDS[str(request["type"])]
        measurement = Measurement(self, next(self._ids), kind)
        measurement.on_data = on_data
        text = json.dumps(
            {"id": measurement.id, "request": request}, separators=(",", ":")
        ).encode()
        most_bytes = int(self.hello["max_line_bytes"])
        if len(text) >= most_bytes:
            raise EngineError(
                "request.too_long",
                f"{self.label}: request too long: {len(text)} bytes of {most_bytes - 1} allowed",
                hint="use fewer stations, or shorter paths",
                host=self.name,
            )
        if asked is not None:
            asked.append(measurement)
        with self._lock:
            if self._lost:
                raise self.lost()
            self._open[measurement.id] = measurement
        try:
            self._write(text + b"\n")
        except Stalled:
            raise self.give_up(_ANSWER_S) from None
        except OSError:
            raise self.lost() from None
        return measurement

    def ask(self, request: Mapping[str, object], within_s: float = _ANSWER_S) -> Result:
        """
        Send a simple request and wait for its answer. An engine that does not answer is ended.

        Raises:
            EngineError: The engine refused it.
            EngineLost: The engine has ended, or did not answer in time.
        """
        return self.answer(self.start(request), within_s)

    def answer(self, asked: Measurement, within_s: float = _ANSWER_S) -> Result:
        """
        Wait for the answer to a simple request that was sent before. Raises the errors of `ask`.
        """
        try:
            return asked.result(within_s)
        except EngineLost as lost:
            silent = self.give_up(within_s)
            # The engine may have sent something that does not answer this request.
            raise (lost if asked.is_over else silent) from None

    def describe(self) -> Result:
        return self.ask(DESCRIBE)

    def clock_offset(self, pings: int) -> tuple[int, int]:
        """
        Offset of the engine's monotonic clock from this process's clock, and the bound of its
        error.

        Returns:
            `(offset_ns, error_ns)`: engine's clock = ours + offset ± error. The error is half of
                the shortest round trip.
        """
        best: tuple[int, int] | None = None
        enough = time.monotonic() + _PINGS_S
        for number in range(pings):
            # Over a long path, a few readings are as good as many.
            if number >= _FEWEST_PINGS and time.monotonic() > enough:
                break
            before = time.monotonic_ns()
            pong = self.ask({"type": "ping"})
            after = time.monotonic_ns()
            error_ns = (after - before) // 2
            if best is None or error_ns < best[1]:
                best = (pong["monotonic_ns"] - (before + after) // 2, error_ns)
        assert best is not None
        return best

    def begin_to_close(self) -> None:
        """Close the engine's input, which ends the engine. `close` waits for the end."""
        self._closing.set()
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()

    def close(self) -> None:
        """End the engine: close its input and wait; kill it only if it does not end."""
        self.begin_to_close()
        try:
            self._process.wait(timeout=_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._beater is not None:
            self._beater.join(timeout=_END_S)
        self._await_reader(self._errors)
        self._await_reader(self._reader)
        # A thread may still be reading, and closing would wait for it.
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()


def _begin(label: str, argv: list[str]) -> EngineProcess:
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ctrl-C in the terminal reaches lanlab only; lanlab then ends its engines in order.
            start_new_session=True,
        )
    except OSError as error:
        raise EngineLost(f"{label}: cannot start `{argv[0]}`: {error.strerror}") from error
