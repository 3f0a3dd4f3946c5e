"""
The user's commands around trials: `--setup`, `--prepare` and `--cleanup`.

They run on lanlab's machine, in a shell, outside of the measurement. Their output is part of the
trial's record. One that fails or takes too long ends its trial, not the run.
"""

from __future__ import annotations

import os
import secrets
import select
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping

from lanlab.errors import CommandFailed
from lanlab.pipes import end_group
from lanlab.plan.plan import PlannedTrial
from lanlab.roles import host_places
from lanlab.run.open_testbed import OpenTestbed
from lanlab.studies.model import Commands
from lanlab.testbeds import process_leftovers
from lanlab.trial_data import CommandRecord
from lanlab.workloads import workload

#: Length to keep of the beginning and of the end of a command's output.
_KEPT_BYTES = 8 * 1024
#: Interval of checks whether a command without open output has ended.
_LOOK_S = 0.02
_LONGEST_LINE = 200
#: Environment variable that identifies a command and its children.
_MARK = "LANLAB_COMMAND"
_MOST_NAMED = 5


class TrialCommands:
    """The commands of one run.

    Args:
        commands: `None`: none.
        run_id: Id of the run, for their environment.
    """

    def __init__(self, commands: Commands | None, run_id: str) -> None:
        self._commands, self._run_id = commands, run_id
        #: The condition that `setup` has been run for.
        self._set_up: tuple[str, Mapping[str, object]] | None = None
        #: Whether the run was interrupted while `after` ran a command, which then continued.
        self.is_interrupted = False

    def before(self, trial: PlannedTrial, testbed: OpenTestbed, ran: list[CommandRecord]) -> None:
        """
        Run the commands before a trial.

        Args:
            ran: Receives a record of each command, including a failed one.

        Raises:
            CommandFailed: The trial cannot be run.
        """
        if self._commands is None:
            return
        condition = (trial.experiment, trial.factors)
        if self._commands.setup is not None and self._set_up != condition:
            self._set_up = None
            self._run("setup", self._commands.setup, trial, testbed, ran)
            self._set_up = condition
        if self._commands.prepare is not None:
            self._run("prepare", self._commands.prepare, trial, testbed, ran)

    def after(
        self,
        trial: PlannedTrial,
        testbed: OpenTestbed,
        ran: list[CommandRecord],
        *,
        outlasts_interrupt: bool = True,
    ) -> None:
        """
        Run the commands after a trial, also after a failed one.

        Args:
            outlasts_interrupt: Whether the command continues to its end when the run is
                interrupted, so that the trial is saved; `is_interrupted` is then set. A second
                interrupt ends it.

        Raises:
            CommandFailed: It failed: the state for the next trial is unknown.
        """
        on_interrupt = self._interrupted if outlasts_interrupt else None
        if self._commands is not None and self._commands.cleanup is not None:
            self._run("cleanup", self._commands.cleanup, trial, testbed, ran, on_interrupt)

    def _interrupted(self) -> None:
        if self.is_interrupted:
            raise KeyboardInterrupt
        self.is_interrupted = True

    def _run(
        self,
        when: str,
        text: str,
        trial: PlannedTrial,
        testbed: OpenTestbed,
        ran: list[CommandRecord],
        on_interrupt: Callable[[], None] | None = None,
    ) -> None:
        assert self._commands is not None
        environment = self._environment(trial, testbed)
        record = run_command(text, environment, self._commands.timeout_s, on_interrupt)
        ran.append({"when": when, **record})
        problem = _problem(record, self._commands.timeout_s)
        if problem is not None:
            raise CommandFailed(
                f"--{when} `{text}` {problem}",
                hint="run it by itself to see why; --command-timeout sets its time limit"
                if record["is_overdue"]
                else "run it by itself to see why; it must end with exit code 0",
            )

    def _environment(self, trial: PlannedTrial, testbed: OpenTestbed) -> dict[str, str]:
        variables = {
            "LANLAB_RUN": self._run_id,
            "LANLAB_TRIAL": str(trial.number),
            "LANLAB_TESTBED": testbed.bed.name,
        }
        for key, level in trial.parameters.items():
            variables[f"LANLAB_PARAMETER_{key.upper()}"] = str(level)
        direction = trial.parameters.get("traffic_direction")
        for role, place in host_places(workload(trial.workload).roles, direction).items():
            variables[f"LANLAB_ON_{role.upper()}"] = shlex.join(
                testbed.bed.hosts[place].command_prefix
            )
        return {**os.environ, **variables}


#: Commands of a run without any.
NO_COMMANDS = TrialCommands(None, "")


def _problem(record: CommandRecord, timeout_s: float) -> str | None:
    """The error of a command's end; `None` for success."""
    lines = str(record["output"]).strip().splitlines()
    said = f"; it printed last: {lines[-1].strip()[:_LONGEST_LINE]}" if lines else ""
    if record["is_overdue"]:
        left = f"; {record['left']}" if record.get("left") else ""
        return f"was ended after {timeout_s:g} s{left}{said}"
    code = record["exit_code"]
    if code == 0:
        return None
    how = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"{how}{said}"


def run_command(
    text: str,
    environment: Mapping[str, str],
    timeout_s: float,
    on_interrupt: Callable[[], None] | None = None,
) -> CommandRecord:
    """
    Run a command in a shell, without input, until it ends or its time is over.

    A process that it leaves in the background continues, and is not waited for. A command that
    takes too long is ended with its process group, and on Linux with all its children, even in
    other sessions, unless they have cleared their environment.

    Args:
        on_interrupt: Called at Ctrl-C; if it returns, the command continues. `None`: it is ended.
    """
    began = time.monotonic()
    mark = secrets.token_hex(8)
    # Commands are written for a shell; the separate group makes them easy to end.
    process = subprocess.Popen(
        text,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**environment, _MARK: mark},
        start_new_session=True,
    )
    output = _Output()
    try:
        assert process.stdout is not None
        with process.stdout as pipe:
            while True:
                try:
                    is_overdue = not _watched(process, pipe.fileno(), output, began + timeout_s)
                    break
                except KeyboardInterrupt:
                    if on_interrupt is None:
                        raise
                    on_interrupt()
            # End the command while its output is open: a broken pipe could end it, too.
            left = _end(process, mark) if is_overdue else None
    except BaseException:
        _end(process, mark)
        raise
    return {
        **({} if left is None else {"left": left}),
        "command": text,
        "exit_code": process.wait(),
        "elapsed_s": time.monotonic() - began,
        "is_overdue": is_overdue,
        "output": output.text(),
        "output_bytes": output.length,
    }


class _Output:
    def __init__(self) -> None:
        self.length = 0
        self._begin, self._end = b"", b""

    def add(self, piece: bytes) -> None:
        self.length += len(piece)
        taken = _KEPT_BYTES - len(self._begin)
        self._begin += piece[:taken]
        self._end = (self._end + piece[taken:])[-_KEPT_BYTES:]

    def text(self) -> str:
        left_out = self.length - len(self._begin) - len(self._end)
        gap = f"\n[{left_out} bytes left out]\n".encode() if left_out else b""
        whole = self._begin + gap + self._end
        # PostgreSQL cannot store NUL in a text.
        return whole.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _watched(
    process: subprocess.Popen[bytes], descriptor: int, output: _Output, until: float
) -> bool:
    os.set_blocking(descriptor, False)
    is_open = True
    while True:
        has_ended = process.poll() is not None
        if is_open:
            is_open = _taken(descriptor, output, until)
        if has_ended:
            return True
        left_s = until - time.monotonic()
        if left_s <= 0:
            return False
        if is_open:
            select.select([descriptor], [], [], min(left_s, _LOOK_S))
        else:
            try:
                process.wait(min(left_s, _LOOK_S))
            except subprocess.TimeoutExpired:
                continue


def _taken(descriptor: int, output: _Output, until: float) -> bool:
    while time.monotonic() < until:
        try:
            piece = os.read(descriptor, 65_536)
        except BlockingIOError:
            return True
        if not piece:
            return False
        output.add(piece)
    return True


def _end(process: subprocess.Popen[bytes], mark: str) -> str | None:
    end_group(process)
    if not (stuck := process_leftovers.end_marked(mark, _MARK)):
        return None
    pids = ", ".join(str(one.pid) for one in stuck[:_MOST_NAMED])
    return f"processes that it has started cannot be ended: {pids}"
