"""One trial of a driver: its server on the target, its client on the source, and their end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lanlab.errors import LabError, RunError
from lanlab.workloads.drivers.base import Commands, Driver, Metrics, Output, Place
from lanlab.workloads.drivers.programs import (
    Program,
    failure,
    free_ports,
    started_on,
    wait_listening,
)
from lanlab.workloads.exchange import End, Exchange

if TYPE_CHECKING:
    from lanlab.workloads.parameters import FlowParameters

_LISTENING_WITHIN_S = 10.0
#: Beyond the time that a trial must take, and the silence that the condition allows.
_MARGIN_S = 20.0
#: How long a server may take once its client has ended.
_SERVER_ENDS_WITHIN_S = 10.0


def run_driver(
    driver: Driver,
    workload: str,
    parameters: FlowParameters,
    source: End,
    target: End,
    expected_s: float,
) -> Exchange:
    """
    Run one trial of another program.

    Args:
        expected_s: Time that the trial must take.

    Returns:
        The exchange: `listener` is what the server left, `connector` what the client left, each
        with its command, output, exit code and times. A failed one has `error`.
    """
    exchange = Exchange()
    programs: list[Program] = []
    try:
        _run(driver, workload, parameters, (source, target), expected_s, exchange, programs)
    except LabError as error:
        exchange.error = error
    finally:
        # Whatever happened, Ctrl-C included.
        for program in programs:
            program.end()
        for key, program in zip(("listener", "connector"), programs, strict=False):
            setattr(exchange, key, _record(program))
        for program in programs:
            program.close()
    return exchange


def _run(
    driver: Driver,
    workload: str,
    parameters: FlowParameters,
    ends: tuple[End, End],
    expected_s: float,
    exchange: Exchange,
    programs: list[Program],
) -> None:
    source, target = ends
    driver.check_found(workload, parameters)
    first = driver.programs(workload, parameters.transport)[0]
    exchange.setup = {"driver": driver.name, "version": driver.version(first)}
    port = free_ports(target.command_prefix, driver.ports)
    place = Place(source.address, target.address, port)
    commands = driver.commands(workload, parameters, place)
    exchange.setup["asked"] = {
        "server": list(commands.server),
        "client": list(commands.client),
        "processors": os.cpu_count(),
    }
    server = Program(
        f"{driver.name} server",
        started_on(target.command_prefix, commands.server, parameters.receiver_processor),
    )
    programs.append(server)
    wait_listening(server, *commands.listens_on, _LISTENING_WITHIN_S)
    client = Program(
        f"{driver.name} client",
        started_on(source.command_prefix, commands.client, parameters.sender_processor),
    )
    programs.append(client)
    limit_s = expected_s + parameters.silence_s + _MARGIN_S
    if not client.wait(limit_s):
        raise RunError(f"`{client.name}` has not ended after {limit_s:g} s")
    if client.exit_code != 0:
        raise failure(client, f"failed ({client.exit_code})")
    _end_server(server, commands)


def _end_server(server: Program, commands: Commands) -> None:
    if commands.server_last_words:
        server.wait_for(commands.server_last_words, _SERVER_ENDS_WITHIN_S)
    if commands.server_end is not None:
        server.wait_childless(_SERVER_ENDS_WITHIN_S)
        server.signal(commands.server_end)
    if not server.wait(_SERVER_ENDS_WITHIN_S):
        raise failure(server, f"has not ended {_SERVER_ENDS_WITHIN_S:g} s after its client")
    # Told to end by a signal, some end by it, and some say that they were interrupted.
    if commands.server_end is None and server.exit_code != 0:
        raise failure(server, f"failed ({server.exit_code})")


def _record(program: Program) -> dict[str, Any]:
    """What a program left, for the store."""
    out, err = program.output()
    return {
        "command": program.argv,
        "exit_code": program.exit_code,
        "elapsed_ns": round(1e9 * program.elapsed_s),
        "cpu": {
            "user_ns": round(1e9 * program.cpu_user_s),
            "system_ns": round(1e9 * program.cpu_system_s),
        },
        "output": out,
        "errors": err,
    }


def driver_metrics(
    driver: Driver, workload: str, parameters: FlowParameters, exchange: Exchange
) -> Metrics:
    """A finished trial's results.

    Raises:
        RunError: The output is not what the program is known to write.
    """
    assert exchange.connector is not None
    assert exchange.listener is not None
    return driver.metrics(
        workload, parameters, _output(exchange.connector), _output(exchange.listener)
    )


def _output(record: dict[str, Any]) -> Output:
    cpu = record["cpu"]
    return Output(record["output"], (cpu["user_ns"] + cpu["system_ns"]) / 1e9)
