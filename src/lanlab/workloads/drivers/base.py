"""The interface of a driver: its abilities, its command lines, and the parser of its output."""

from __future__ import annotations

import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from lanlab.errors import RunError, UnmetNeed
from lanlab.frozen import dataclass
from lanlab.outside import in_range
from lanlab.pipes import run_briefly
from lanlab.workloads.drivers.abilities import Abilities, Measured

Metrics = dict[str, float | int]

_VERSION_WITHIN_S = 5.0


@dataclass(frozen=True)
class Place:
    source_address: str
    target_address: str
    #: The first of the consecutive ports that the driver asked for, free on the target.
    port: int


@dataclass(frozen=True)
class Commands:
    server: Sequence[str]
    client: Sequence[str]
    #: The server is ready when this port is listening, or, over UDP, bound.
    listens_on: tuple[Literal["tcp", "udp"], int]
    #: Signal that ends the server after the trial; `None` if it ends by itself.
    server_end: signal.Signals | None = None
    #: The end of the server's output; the signal is sent once it has appeared.
    server_last_words: str = ""


@dataclass(frozen=True)
class Output:
    text: str
    #: User and system time of the process and its children, seconds; `None` if unknown.
    cpu_s: float | None


class Driver(ABC):
    """
    One program. Subclasses define its abilities, its command lines, and how to read its output.
    """

    #: Name in `--tool` and in study files.
    name: str
    how_to_get: str
    #: Abilities by workload; `None`: unsupported.
    stream: Abilities | None = None
    echo: Abilities | None = None
    #: Whether the program can run on hosts reached by ssh: its server ends by itself.
    runs_by_ssh = False
    ports = 2
    #: The command that prints its version, and the pattern of that line.
    version_arguments: Sequence[str] = ("--version",)

    def programs(self, workload: str, transport: str) -> tuple[str, ...]:
        """Names of the programs needed for a condition; the first one reports the version."""
        return (self.name,)

    @abstractmethod
    def commands(self, workload: str, parameters: Measured, place: Place) -> Commands:
        """The commands of a trial."""

    @abstractmethod
    def metrics(
        self, workload: str, parameters: Measured, client: Output, server: Output
    ) -> Metrics:
        """A trial's results by lanlab's keys. Values that the program does not report are absent.

        Raises:
            RunError: The output does not have the program's known form.
        """

    def checked_metrics(
        self, workload: str, parameters: Measured, client: Output, server: Output
    ) -> Metrics:
        """`metrics`, with checks that the values are plausible.

        Raises:
            RunError: A value is impossible or missing.
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

    def problem(self, workload: str, parameters: Measured) -> str | None:
        """Why the program cannot measure the condition: what was found and what is allowed."""
        abilities = self.abilities()
        if workload not in abilities:
            return f"tool `{self.name}`: found {workload}; allowed: {', '.join(abilities)}"
        return abilities[workload].problem(self.name, parameters)

    def check_found(self, workload: str, parameters: Measured) -> None:
        """Check that the program is installed, and new enough for the condition.

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
                f"tool `{self.name}` needs `{program}`, not found on PATH", hint=self.how_to_get
            )
        return path

    def version(self, program: str) -> str:
        """The program's version in one line; empty if it reports none."""
        return _first_line((self.path(program), *self.version_arguments))


@lru_cache(maxsize=64)
def _first_line(argv: tuple[str, ...]) -> str:
    try:
        done = run_briefly(argv, _VERSION_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout + done.stderr).splitlines()
    return next((line.strip() for line in lines if line.strip()), "")
