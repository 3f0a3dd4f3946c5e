"""What every driver promises: what it can measure, how it is started, what its output says."""

from __future__ import annotations

import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from lanlab.errors import RunError, UnmetNeed
from lanlab.frozen import dataclass
from lanlab.outside import in_range
from lanlab.pipes import run_briefly
from lanlab.workloads.drivers.abilities import Abilities

if TYPE_CHECKING:
    from lanlab.workloads.parameters import FlowParameters

Metrics = dict[str, float | int]

_VERSION_WITHIN_S = 5.0


@dataclass(frozen=True)
class Place:
    source_address: str
    target_address: str
    #: The first of as many consecutive ports as the driver asked for, free on the target.
    port: int


@dataclass(frozen=True)
class Commands:
    server: Sequence[str]
    client: Sequence[str]
    #: The server is ready when it has this port: listening, or over UDP bound.
    listens_on: tuple[Literal["tcp", "udp"], int]
    #: Signal that ends the server after the trial; `None`: it ends by itself.
    server_end: signal.Signals | None = None
    #: What the server writes last; the signal is sent once that stands in its output.
    server_last_words: str = ""


@dataclass(frozen=True)
class Output:
    text: str
    #: User and system time of the whole process, its children's included, seconds; `None` where it
    #: is not known.
    cpu_s: float | None


class Driver(ABC):
    """One program. Its subclasses say what it can do, how it is asked, and what it answered."""

    #: As in `--tool` and in study files.
    name: str
    how_to_get: str
    #: What it can measure of each workload; `None`: nothing.
    stream: Abilities | None = None
    echo: Abilities | None = None
    #: Whether it can be started on hosts that are reached by ssh: its server ends by itself.
    runs_by_ssh = False
    ports = 2
    #: Prints its version, and what that line looks like is found by `version`.
    version_arguments: Sequence[str] = ("--version",)

    @abstractmethod
    def programs(self, workload: str, transport: str) -> tuple[str, ...]:
        """Names of the programs that a condition takes, the one with the version first."""

    @abstractmethod
    def commands(self, workload: str, parameters: Any, place: Place) -> Commands:
        """What to start for a trial."""

    @abstractmethod
    def metrics(self, workload: str, parameters: Any, client: Output, server: Output) -> Metrics:
        """A trial's results by lanlab's keys. What the program does not tell is absent.

        Raises:
            RunError: The output is not what the program is known to write.
        """

    def checked_metrics(
        self, workload: str, parameters: Any, client: Output, server: Output
    ) -> Metrics:
        """The same of any output: numbers that can have been measured.

        Raises:
            RunError: They are not, or the output lacks some.
        """
        try:
            found = self.metrics(workload, parameters, client, server)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise RunError(
                f"unknown output format of `{self.name}`: {type(error).__name__}: {error!s:.80}"
            ) from None
        for key, value in found.items():
            if type(value) not in (int, float) or not in_range(abs(value)):
                raise RunError(f"`{self.name}` reports {value!s:.40} for {key}, out of range")
        return found

    def abilities(self) -> Mapping[str, Abilities]:
        found = {"stream": self.stream, "echo": self.echo}
        return {name: abilities for name, abilities in found.items() if abilities is not None}

    def problem(self, workload: str, parameters: FlowParameters) -> str | None:
        """Why the program cannot measure a condition: what was found and what is allowed."""
        abilities = self.abilities()
        if workload not in abilities:
            return f"driver `{self.name}`: found {workload}; allowed: {', '.join(abilities)}"
        return abilities[workload].problem(self.name, parameters)

    def check_found(self, workload: str, parameters: FlowParameters) -> None:
        """See that the program is on this machine, and new enough for the condition.

        Raises:
            UnmetNeed: It is not.
        """
        for program in self.programs(workload, parameters.transport):
            self.path(program)

    def path(self, program: str) -> str:
        """Path of one of its programs.

        Raises:
            UnmetNeed: It is not on PATH.
        """
        path = shutil.which(program)
        if path is None:
            raise UnmetNeed(
                f"driver `{self.name}` needs `{program}`, not found on PATH", hint=self.how_to_get
            )
        return path

    def version(self, program: str) -> str:
        """What the program says of its version, in one line; empty if it says nothing."""
        return _first_line((self.path(program), *self.version_arguments))


@lru_cache(maxsize=64)
def _first_line(argv: tuple[str, ...]) -> str:
    try:
        done = run_briefly(argv, _VERSION_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout + done.stderr).splitlines()
    return next((line.strip() for line in lines if line.strip()), "")
