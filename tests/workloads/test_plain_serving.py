"""Services of RFC 862, 863 and 864: for lanlab's streams, `nc` and sockets; and their bounds."""

import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

from missing import missing
from peer_server import WITHIN_S, Server, served
from trial_running import Pair, module_pair

from lanlab.performers import metrics_of
from lanlab.workloads import WORKLOADS, CounterChanges

__all__ = ["module_pair"]


def measured(pair: Pair, server: Server, **given: Any) -> dict[str, float | int]:
    stream = {
        "transport": "tcp",
        "message_size_bytes": 16_384,
        "time_s": 0.3,
        "silence_s": 20,
        "peer": f"tcp://127.0.0.1:{server.port}",
        **given,
    }
    outcome = pair.exchange("stream", **stream)
    assert outcome.error is None, outcome.error
    kind = WORKLOADS["stream"]
    return metrics_of(kind, kind.Parameters.model_validate(stream), outcome, CounterChanges())


def ended_clients(server: Server, count: int) -> list[dict[str, Any]]:
    return [server.numbered(number) for number in range(1, count + 1)]


def test_both_ends_of_a_plain_stream_report_equal_counts(pair: Pair) -> None:
    with served(service="discard") as server:
        metrics = measured(pair, server, flows=3)
        clients = ended_clients(server, 3)
    received = sum(client["received_bytes"] for client in clients)
    assert received == metrics["total_acknowledged_bytes"] > 0
    assert all(client["error"] is None and client["sent_bytes"] == 0 for client in clients)

    with served(service="echo") as server:
        metrics = measured(pair, server, rate_bps="8M")
        (client,) = ended_clients(server, 1)
    assert client["received_bytes"] == client["sent_bytes"] == metrics["returned_bytes"] > 0

    with served(service="chargen") as server:
        metrics = measured(pair, server, traffic_direction="reverse")
        (client,) = ended_clients(server, 1)
    assert client["sent_bytes"] >= metrics["total_received_bytes"] > 0
    assert client["error"] is None or client["error"]["code"] == "client.gone"


def test_nc_sends_a_file_and_receives_the_characters_of_the_standard(tmp_path: Path) -> None:
    nc = shutil.which("nc") or missing("need `nc`")
    octets = bytes(range(256)) * 4096
    with served(service="discard") as server:
        argv = [nc, "-N", "127.0.0.1", str(server.port)]
        subprocess.run(argv, input=octets, timeout=WITHIN_S, check=True)
        (client,) = ended_clients(server, 1)
        assert (client["received_bytes"], client["error"]) == (len(octets), None)
    with served(service="chargen", rate_bps=800_000) as server:
        process = subprocess.Popen(
            [nc, "-d", "127.0.0.1", str(server.port)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(96)]
        process.kill()
        process.communicate(timeout=WITHIN_S)
    printable = bytes(range(32, 127))
    assert lines[0] == printable[:72] + b"\r\n"
    assert lines[1] == printable[1:73] + b"\r\n"
    assert lines[95] == lines[0]


def test_clients_are_disconnected_at_the_time_limit() -> None:
    with served(clients=1, service="echo", longest_s=1) as server:
        with socket.create_connection(("127.0.0.1", server.port), 10) as first:
            first.sendall(b"hello")
            assert first.recv(5) == b"hello"
            # A silent connection takes no place, and ends no client.
            with socket.create_connection(("127.0.0.1", server.port), 10):
                # The first never ends by itself.
                assert first.recv(1) == b""
        client = server.numbered(1)
    assert client["error"]["message"] == "the client was there for 1 s"
    assert (client["received_bytes"], client["sent_bytes"]) == (5, 5)


def test_a_client_is_served_no_faster_than_the_rate() -> None:
    with served(service="discard", rate_bps=2_000_000) as server:
        with socket.create_connection(("127.0.0.1", server.port), 10) as client:
            client.sendall(bytes(100_000))
        ended = server.numbered(1)
    assert ended["received_bytes"] == 100_000
    assert ended["elapsed_ns"] >= 400_000_000
