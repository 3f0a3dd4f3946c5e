"""The receiving end listens on a given port, as a firewall may need."""

from __future__ import annotations

import os
import socket

import pytest
from pydantic import ValidationError
from trial_running import Pair

from lanlab.errors import EngineError
from lanlab.workloads.stream import StreamParameters


def free_ports(count: int) -> int:
    """The first of `count` free ports in a row."""
    for first in range(21_000, 30_000, 50):
        try:
            for port in range(first, first + count):
                for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
                    with socket.socket(socket.AF_INET, kind) as tried:
                        tried.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise AssertionError("no port is free")


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_fixed_port_is_used_trial_after_trial(pair: Pair, transport: str) -> None:
    """Further flows over UDP take the next ones; over TCP all come to one."""
    port = free_ports(3)
    for _ in range(3):
        trial = pair.trial("stream", transport=transport, messages=30, flows=3, port=port)
        asked = trial.exchange.setup["requests"]["sender"]["ports"]
        assert asked == ([port, port + 1, port + 2] if transport == "udp" else [port])
        assert trial.metrics["lost_messages"] == 0


def test_an_echo_has_a_fixed_port_too(pair: Pair) -> None:
    """That of its responder."""
    port = free_ports(1)
    trial = pair.trial("echo", requests=5, port=port)
    assert trial.exchange.setup["requests"]["requester"]["port"] == port


def test_a_port_in_use_is_named(pair: Pair) -> None:
    """With what to do."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        error = pair.exchange("stream", messages=5, port=port).error
    assert isinstance(error, EngineError)
    assert error.code == "bind.in_use"
    assert f"UDP port {port} on 127.0.0.1 is in use" in error.message
    # This process has it.
    assert f"process {os.getpid()}" in (error.hint or "")


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_of_a_range_the_first_free_port_is_taken(pair: Pair, transport: str) -> None:
    """What is in use is passed over; with too few left it is refused."""
    port = free_ports(4)
    kind = socket.SOCK_DGRAM if transport == "udp" else socket.SOCK_STREAM
    wanted = {"transport": transport, "messages": 20, "flows": 2, "port": f"{port}-{port + 3}"}
    with socket.socket(socket.AF_INET, kind) as first, socket.socket(socket.AF_INET, kind) as third:
        for taken, number in ((first, port), (third, port + 2)):
            taken.bind(("127.0.0.1", number))
            if transport == "tcp":
                taken.listen()
        trial = pair.trial("stream", **wanted)
        asked = trial.exchange.setup["requests"]["sender"]["ports"]
        assert asked == ([port + 1, port + 3] if transport == "udp" else [port + 1])
        error = pair.exchange("stream", **{**wanted, "port": f"{port}-{port}", "flows": 1}).error
    assert isinstance(error, EngineError)
    assert error.code == "bind.in_use"


def test_a_range_with_fewer_ports_than_flows_is_refused(pair: Pair) -> None:
    """Before a socket is opened."""
    error = pair.exchange("stream", messages=5, flows=3, port="5201-5202").error
    assert isinstance(error, EngineError)
    assert error.code == "request.value"
    assert "found 5201 to 5202; allowed: 3 ports" in error.message


@pytest.mark.parametrize(
    "port", [0, "0", "65536", "5-4", "5-", "-5", "1-2-3", "five", "", True, 1.5]
)
def test_what_is_no_port_is_refused(port: object) -> None:
    """Before anything is run."""
    with pytest.raises(ValidationError):
        StreamParameters.model_validate({"messages": 5, "port": port})


def test_a_port_is_a_text_or_a_number() -> None:
    """Studies may have either."""
    for given, kept in ((5201, "5201"), (" 5201 - 5210 ", "5201-5210"), ("0080", "80")):
        assert StreamParameters.model_validate({"messages": 5, "port": given}).port == kept
