"""Streams over lanlab's own TCP at one end, to and from a kernel's TCP, on the virtual LAN."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from trial_running import Pair, opened_pair

from lanlab.errors import EngineError
from lanlab.studies.load import built_in_machines
from lanlab.workloads.services.small_stack import PROFILES
from lanlab.workloads.stream.parameters import StreamParameters

MEMORY_BYTES = 200_000
WITHIN_S = 60
#: Takes one connection, reads or writes, and says how many bytes were read.
PEER = """
import json, socket, sys
listener = socket.create_server((sys.argv[1], 0))
print(listener.getsockname()[1], flush=True)
connection = listener.accept()[0]
total = 0
try:
    if sys.argv[2] == "reads":
        while data := connection.recv(65536):
            total += len(data)
    elif sys.argv[2] == "writes":
        while True:
            connection.sendall(bytes(16384))
    else:
        connection.recv(1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\\1\\0\\0\\0\\0\\0\\0\\0")
except OSError:
    pass
connection.close()
print(json.dumps(total), flush=True)
"""


@pytest.fixture(scope="module", params=["10M", "100M", "unshaped"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Unshaped, kernels leave checksums and the cutting of segments to the veth."""
    with opened_pair("virtual", request.param) as pair:
        yield pair


@pytest.fixture(scope="module")
def one_pair() -> Iterator[Pair]:
    with opened_pair("virtual", "100M") as pair:
        yield pair


@contextmanager
def peer(pair: Pair, does: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL of a program on the second host, over its kernel's TCP."""
    host = pair.bed.hosts[1]
    address = host.addresses["ipv4"]
    argv = [*host.command_prefix, sys.executable, "-c", PEER, address, does]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        try:
            yield f"tcp://{address}:{int(program.stdout.readline())}", program
        finally:
            program.kill()


def free_address(pair: Pair) -> str:
    return pair.bed.hosts[0].addresses["ipv4"].rpartition(".")[0] + ".77"


def over_small(pair: Pair, url: str, **given: Any) -> dict[str, Any]:
    return {
        "transport": "tcp",
        "message_size_bytes": 1460,
        "stack": "small",
        "stack_address": free_address(pair),
        "stack_memory_bytes": MEMORY_BYTES,
        "peer": url,
        "warmup_s": 0.1,
        "silence_s": 3,
        **given,
    }


def measured(pair: Pair, url: str, **given: Any) -> tuple[dict[str, Any], dict[str, float | int]]:
    outcome, metrics = pair.peer_trial("stream", **over_small(pair, url, **given))
    (result,) = outcome.results.values()
    return result, metrics


def test_small_stack_and_kernel_count_the_same_bytes(pair: Pair) -> None:
    with peer(pair, "reads") as (url, program):
        result, metrics = measured(pair, url, time_s=1)
        said, _ = program.communicate(timeout=WITHIN_S)

    sent = result["total_messages"] * 1460
    assert json.loads(said) == sent == metrics["total_acknowledged_bytes"] > 0
    assert result["flows"][0]["tcp"]["retransmitted_segments"] == 0
    assert 0 < metrics["stack_held_bytes"] <= MEMORY_BYTES == result["stack"]["memory_bytes"]
    # Each segment is a frame, and at most every second one is acknowledged by another.
    segments = result["flows"][0]["tcp"]["segments_sent"]
    assert segments <= result["stack"]["sent_frames"] <= segments + 20
    assert result["stack"]["dropped_frames"] == 0
    assert metrics["acknowledged_bps"] > 0


def test_data_from_a_kernel_is_received_in_bounded_memory(pair: Pair) -> None:
    with peer(pair, "writes") as (url, _):
        result, metrics = measured(pair, url, time_s=1, traffic_direction="reverse")

    assert metrics["goodput_bps"] > 0
    assert result["flows"][0]["tcp"]["received_bytes"] == result["total_bytes"]
    assert 0 < metrics["stack_held_bytes"] <= MEMORY_BYTES


def test_early_bytes_are_not_counted_in_the_window(one_pair: Pair) -> None:
    with peer(one_pair, "writes") as (url, _):
        # Time for a busy machine to send before the start.
        early = replace(one_pair, lead_s=1.0)
        result, _ = measured(early, url, traffic_direction="reverse", bytes=146_000, warmup_s=0)

    assert result["total_bytes"] >= 146_000
    assert 1460 <= result["total_bytes"] - result["window_bytes"] <= 64_240


@pytest.mark.parametrize("stack", ["system", "small"])
def test_lanlab_starts_a_plain_program_at_the_other_end(one_pair: Pair, stack: str) -> None:
    given = {"stack": stack, "stack_address": None, "bytes": 146_000, "warmup_s": 0}
    _, sent = measured(one_pair, "tcp", **given)
    _, received = measured(one_pair, "tcp", **given, traffic_direction="reverse")

    assert sent["total_acknowledged_bytes"] == 146_000
    assert received["total_received_bytes"] >= 146_000
    assert ("stack_held_bytes" in sent, "stack_held_bytes" in received) == ((stack == "small"),) * 2


@pytest.mark.parametrize("profile", ["mtcp", "windows-95"])
def test_a_profile_describes_the_stack_unless_options_override_it(
    one_pair: Pair, profile: str
) -> None:
    given = {"bytes": 146_000, "warmup_s": 0, "stack_profile": profile}
    with peer(one_pair, "reads") as (url, _):
        result, _ = measured(one_pair, url, **given, send_buffer_bytes=2920)

    wanted, stack = PROFILES[profile], result["stack"]
    assert stack["receive_buffer_bytes"] == wanted.receive_buffer_bytes
    assert stack["send_buffer_bytes"] == 2920
    assert stack["mss_bytes"] == wanted.mss_bytes
    assert stack["delayed_ack_ns"] == wanted.delayed_ack_ns


def test_the_machines_of_the_study_have_their_numbers() -> None:
    for name in ("pcjr", "ibm-xt", "386-40"):
        simulation = next(one for one, _ in built_in_machines() if one.machine_named(name))
        machine = simulation.machine_named(name)
        assert machine is not None
        assert machine.like is not None
        like = simulation.machine_named(machine.like)
        assert like is not None
        numbers = {key: number.value for key, number in like.numbers.items()}
        profile = PROFILES[name]
        assert numbers["receive_buffer_bytes"] == profile.receive_buffer_bytes
        assert numbers["send_buffer_bytes"] == profile.send_buffer_bytes
        assert numbers["delayed_ack_ms"] * 1e6 == profile.delayed_ack_ns
        assert numbers["nagle"] == (not profile.no_delay)


def failure(pair: Pair, url: str, **given: Any) -> EngineError:
    outcome = pair.exchange("stream", **over_small(pair, url, time_s=0.3, **given))
    assert isinstance(outcome.error, EngineError)
    return outcome.error


def test_an_address_that_a_host_has_is_refused(one_pair: Pair) -> None:
    taken = one_pair.bed.hosts[1].addresses["ipv4"]
    other = free_address(one_pair).rpartition(".")[0] + ".78"

    error = failure(one_pair, f"tcp://{other}:9", stack_address=taken)

    assert error.code == "stack.address_taken"
    assert f"{taken} is the address of another station" in error.message


def test_closed_ports_and_missing_hosts_are_reported(
    one_pair: Pair,
) -> None:
    there = one_pair.bed.hosts[1].addresses["ipv4"]
    nowhere = free_address(one_pair).rpartition(".")[0] + ".78"

    assert failure(one_pair, f"tcp://{there}:9").code == "peer.refused"
    assert failure(one_pair, f"tcp://{nowhere}:9").code == "stack.no_peer"


def test_a_peer_that_resets_ends_the_trial_with_a_sentence(one_pair: Pair) -> None:
    with peer(one_pair, "resets") as (url, _):
        assert failure(one_pair, url).code == "peer.closed"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"stack_address": None}, "needs an address"),
        ({"stack_profile": "mtpc"}, "allowed: mtcp, "),
        ({"peer": "tcp", "flows": 101}, "allowed with a peer: 1 to 100"),
        ({"stack_address": "::1"}, "allowed: an IPv4 address"),
        ({"peer": None}, "stack"),
        ({"peer": "iperf3://192.168.7.2"}, "stack"),
        ({"dscp": 8}, "no effect with stack `small`"),
        ({"send_buffer_bytes": 100_000}, "1460 to 65535"),
        ({"stack": "system"}, "stack_address"),
    ],
)
def test_unsupported_small_stack_options_are_refused(given: dict[str, Any], said: str) -> None:
    whole = {
        "transport": "tcp",
        "time_s": 1,
        "peer": "tcp://192.168.7.2:9",
        "stack": "small",
        "stack_address": "192.168.7.77",
    }
    with pytest.raises(ValueError, match=said):
        StreamParameters.model_validate({**whole, **given})
