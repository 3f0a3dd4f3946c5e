"""The receiving end listens on a given port, as a firewall may need."""

import os
import socket

import pytest
from copying import copy, metrics_of
from file_servers import EMBEDDED
from pydantic import ValidationError
from trial_running import Pair

from lanlab.errors import EngineError
from lanlab.workloads import WORKLOADS
from lanlab.workloads.stream.parameters import StreamParameters


def free_ports(count: int) -> int:
    # Tests beside this one look for theirs elsewhere.
    for first in range(21_000 + 40 * (os.getpid() % 200), 31_000, 40):
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
    port = free_ports(3)
    for _ in range(3):
        trial = pair.trial("stream", transport=transport, messages=30, flows=3, port=port)
        asked = trial.exchange.setup["requests"]["sender"]["ports"]
        assert asked == ([port, port + 1, port + 2] if transport == "udp" else [port])
        assert trial.metrics["lost_messages"] == 0


def test_an_echo_has_a_fixed_port_too(pair: Pair) -> None:
    port = free_ports(1)
    trial = pair.trial("echo", requests=5, port=port)
    assert trial.exchange.setup["requests"]["requester"]["port"] == port


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_the_first_free_port_of_a_range_is_used(pair: Pair, transport: str) -> None:
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
    error = pair.exchange("stream", messages=5, flows=3, port="5201-5202").error
    assert isinstance(error, EngineError)
    assert error.code == "request.value"
    assert "found 5201 to 5202; allowed: 3 ports" in error.message


@pytest.mark.parametrize(
    "port", [0, "0", "65536", "5-4", "5-", "-5", "1-2-3", "five", "", True, 1.5]
)
def test_an_invalid_port_is_refused(port: object) -> None:
    with pytest.raises(ValidationError):
        StreamParameters.model_validate({"messages": 5, "port": port})


def test_a_port_is_a_text_or_a_number() -> None:
    for given, kept in ((5201, "5201"), (" 5201 - 5210 ", "5201-5210"), ("0080", "80")):
        assert StreamParameters.model_validate({"messages": 5, "port": given}).port == kept


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_one_port_is_enough_for_both_directions_on_one_host(pair: Pair, transport: str) -> None:
    flows, first = 2, free_ports(4)
    wanted = {"transport": transport, "messages": 20, "flows": flows, "port": first}
    trial = pair.trial("stream", traffic_direction="both", **wanted)
    asked = trial.exchange.setup["requests"]
    each = flows if transport == "udp" else 1
    assert asked["sender"]["ports"] == list(range(first, first + each))
    assert asked["reverse_sender"]["ports"] == list(range(first + each, first + 2 * each))


@pytest.mark.parametrize(
    ("transport", "echo_transport"), [("udp", "udp"), ("tcp", "udp"), ("tcp", "tcp")]
)
def test_one_port_is_enough_for_a_load(pair: Pair, transport: str, echo_transport: str) -> None:
    each = 2 if transport == "udp" else 1
    first = free_ports(2 * each + 1)
    exchange = pair.exchange(
        "load",
        load="both",
        transport=transport,
        echo_transport=echo_transport,
        flows=2,
        time_s=0.5,
        warmup_s=0.1,
        message_size_bytes=256,
        port=first,
        **({"rate_bps": "1M"} if transport == "udp" else {}),
    )
    assert exchange.error is None
    asked = exchange.setup["requests"]
    taken = [*asked["sender"]["ports"], *asked["reverse_sender"]["ports"]]
    assert taken == list(range(first, first + 2 * each))
    echo = first if echo_transport != transport else first + 2 * each
    assert asked["requester"]["port"] == echo


def test_a_port_with_too_few_after_it_is_refused() -> None:
    load = {"transport": "udp", "rate_bps": "1M", "flows": 4}
    kind = WORKLOADS["load"].Parameters
    assert kind.model_validate({**load, "port": 65_527}).echo().port == "65527-65535"
    with pytest.raises(ValidationError, match=r"9 ports in a row: up to 65527"):
        kind.model_validate({**load, "port": 65_528})
    both = {"messages": 5, "traffic_direction": "both", "port": 65_535}
    with pytest.raises(ValidationError, match=r"2 ports in a row: up to 65534"):
        StreamParameters.model_validate(both)


@pytest.mark.parametrize("service", EMBEDDED)
@pytest.mark.usefixtures("cache")
def test_an_own_file_server_is_on_a_fixed_port_trial_after_trial(pair: Pair, service: str) -> None:
    port = free_ports(1)
    for _ in range(2):
        exchange = copy(pair.engines, service=service, port=port)
        assert metrics_of(exchange)["copied_files"] == 6
        assert exchange.setup["requests"]["client"]["spec"]["service"]["port"] == port


def test_an_own_file_server_on_a_port_in_use_names_it(pair: Pair) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        error = copy(pair.engines, service="sftp", port=port).error
    assert isinstance(error, EngineError) and error.code == "bind.in_use"
    assert str(port) in error.message
