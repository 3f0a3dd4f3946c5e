"""Trials of another program: runs its server on one host and its client on the other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lanlab.addresses import seen_from
from lanlab.errors import LabError, RunError, UnmetNeed
from lanlab.performers.base import HostsOf, OnProgress
from lanlab.performers.engine_host import EngineHost
from lanlab.performers.program import (
    Program,
    ProgramThere,
    failure,
    free_ports,
    started_on,
    wait_listening,
    wait_listening_there,
)
from lanlab.trial_data import RoleResult
from lanlab.workloads import CounterChanges, TrialOutcome
from lanlab.workloads.drivers.base import Commands, Driver, Metrics, Output, Place
from lanlab.workloads.drivers.registry import driver
from lanlab.workloads.parameters import FlowParameters
from lanlab.workloads.registry import AnyWorkload

if TYPE_CHECKING:
    from lanlab.testbeds.remote.programs import RemotePrograms

_LISTENING_WITHIN_S = 10.0
#: Time limit beyond the duration of a trial and the silence that the condition allows.
_MARGIN_S = 20.0
#: Time limit for a server after its client has ended.
_SERVER_ENDS_WITHIN_S = 10.0
_CPU = ("user_ns", "system_ns")


class ProgramPerformer:
    """
    The program that a condition names as its driver.

    Args:
        hosts: Hosts of a testbed.
    """

    def __init__(self, hosts: HostsOf) -> None:
        self._hosts = hosts

    def perform(
        self, kind: AnyWorkload, parameters: FlowParameters, on_progress: OnProgress | None
    ) -> TrialOutcome:
        """See `Performer.perform`. No program reports progress. Each role's results are its
        program's command, output, exit code and times.
        """
        client, server, *_ = self._hosts(parameters.address_family)
        outcome = TrialOutcome()
        programs: list[Program] = []
        try:
            _run(kind, parameters, (client, server), outcome, programs)
        except LabError as error:
            outcome.error = error
        finally:
            # Runs also after an error or Ctrl-C.
            for program in programs:
                program.end()
            # The server was started first.
            for role, program in zip(reversed(kind.roles), programs, strict=False):
                outcome.results[role] = _record(program)
            for program in programs:
                program.close()
        return outcome

    def metrics(
        self,
        kind: AnyWorkload,
        parameters: FlowParameters,
        outcome: TrialOutcome,
        changes: CounterChanges,
    ) -> Metrics:
        """
        See `Performer.metrics`.

        Raises:
            RunError: The output does not have the program's known form.
        """
        client, server = (_output(outcome.results[role]) for role in kind.roles)
        return driver(parameters.driver).checked_metrics(kind.name, parameters, client, server)


def _run(
    kind: AnyWorkload,
    parameters: FlowParameters,
    hosts: tuple[EngineHost, EngineHost],
    outcome: TrialOutcome,
    programs: list[Program],
) -> None:
    client_host, server_host = hosts
    entry = driver(parameters.driver)
    entry.check_found(kind.name, parameters)
    first = entry.programs(kind.name, parameters.transport)[0]
    outcome.setup = {"driver": entry.name, "version": entry.version(first)}
    for host in hosts:
        if host.on.programs_there is not None:
            there = host.on.programs_there.printed_by(first, *entry.version_arguments) or ""
            setup = cast("dict[str, object]", outcome.setup)
            setup[f"version at {host.on.programs_there.label}"] = there.partition("\n")[0]
    port = free_ports(server_host.on.command_prefix, entry.ports)
    address = seen_from(client_host.address, server_host.address)
    place = Place(client_host.address, address, port)
    commands = entry.commands(kind.name, parameters, place)
    outcome.setup["asked"] = {
        "server": list(commands.server),
        "client": list(commands.client),
        "processors": os.cpu_count(),
    }
    server = _started(
        f"{entry.name} server", server_host, commands.server, parameters.receiver_processor
    )
    programs.append(server)
    if server_host.on.programs_there is None:
        wait_listening(server, *commands.listens_on, _LISTENING_WITHIN_S)
    else:
        prefix = server_host.on.command_prefix
        wait_listening_there(server, prefix, *commands.listens_on, _LISTENING_WITHIN_S)
    client = _started(
        f"{entry.name} client", client_host, commands.client, parameters.sender_processor
    )
    programs.append(client)
    limit_s = kind.expected_time_s(parameters) + parameters.silence_s + _MARGIN_S
    if not client.wait(limit_s):
        raise RunError(f"`{client.name}` has not ended after {limit_s:g} s")
    if client.exit_code != 0:
        raise failure(client, f"failed ({client.exit_code})")
    _end_server(server, commands)


def _started(name: str, host: EngineHost, argv: Sequence[str], processor: int | None) -> Program:
    if host.on.programs_there is None:
        return Program(name, started_on(host.on.command_prefix, argv, processor))
    own = [Path(argv[0]).name, *argv[1:]]
    bound = [] if processor is None else ["taskset", "--cpu-list", str(processor)]
    return ProgramThere(name, host.on.programs_there.started([*bound, *own]))


def check_programs_there(
    entry: Driver, workload: str, transport: str, host: RemotePrograms
) -> None:
    """
    Check that the programs of a driver are installed on a remote host.

    Raises:
        UnmetNeed: One is not.
    """
    for program in entry.programs(workload, transport):
        if host.printed_by("which", program) is None:
            raise UnmetNeed(
                f"tool `{entry.name}` needs `{program}`, not found on {host.label}",
                hint=f"on {host.label}: {entry.how_to_get}",
            )


def _end_server(server: Program, commands: Commands) -> None:
    if commands.server_last_words:
        server.wait_for(commands.server_last_words, _SERVER_ENDS_WITHIN_S)
    if commands.server_end is not None:
        server.wait_childless(_SERVER_ENDS_WITHIN_S)
        server.signal(commands.server_end)
    if not server.wait(_SERVER_ENDS_WITHIN_S):
        raise failure(server, f"has not ended {_SERVER_ENDS_WITHIN_S:g} s after its client")
    # Some programs end by the signal, others report an interrupt.
    if commands.server_end is None and server.exit_code != 0:
        raise failure(server, f"failed ({server.exit_code})")


def _record(program: Program) -> RoleResult:
    out, err = program.output()
    record = {
        "command": program.argv,
        "exit_code": program.exit_code,
        "elapsed_ns": round(1e9 * program.elapsed_s),
        "cpu": None
        if program.cpu_s is None
        else {key: round(1e9 * spent) for key, spent in zip(_CPU, program.cpu_s, strict=True)},
        "output": out,
        "errors": err,
    }
    return cast("RoleResult", record)


def _output(record: RoleResult) -> Output:
    cpu = cast("dict[str, int] | None", record["cpu"])
    return Output(record["output"], None if cpu is None else sum(cpu[key] for key in _CPU) / 1e9)
