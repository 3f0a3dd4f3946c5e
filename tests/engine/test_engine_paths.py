"""Both ends of the search for the largest packets of a path."""

import socket
from typing import Any

import pytest
from raw_engine import SESSION, RawEngine, probe_path

TOKEN = bytes.fromhex(SESSION)
ENDS: dict[str, Any] = {"bind": "127.0.0.1", "peer": "127.0.0.1", "session": SESSION}
PROBE: dict[str, Any] = {**ENDS, "port": 9, "most_bytes": 1500, "within_ns": 10**8}


def bound(host: str) -> socket.socket:
    asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    asking.settimeout(60)
    asking.bind((host, 0))
    return asking


def test_only_the_peer_with_the_session_is_answered(engine: RawEngine) -> None:
    _, (port,) = engine.ready({"type": "path_mtu_answer", **ENDS})
    datagram = TOKEN + bytes(984)
    with bound("127.0.0.1") as peer, bound("127.0.0.2") as stranger:
        stranger.sendto(datagram, ("127.0.0.1", port))
        # Answered in this order, if at all.
        for sent in (bytes(1000), TOKEN + bytes(2), b"", datagram, datagram):
            peer.sendto(sent, ("127.0.0.1", port))
        found = [peer.recv(65_536) for _ in range(4)]
        assert found == 2 * [TOKEN + (1000).to_bytes(2, "big"), datagram]
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):
            stranger.recv(65_536)


def test_full_packets_pass_within_a_host(engine: RawEngine) -> None:
    told = probe_path(engine, engine)["result"]
    all_pass = {"least_bytes": 1500, "most_bytes": 1500}
    assert (told["there"], told["back"], told["was_told"]) == (all_pass, all_pass, False)


def test_a_path_search_without_replies_times_out(engine: RawEngine) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        told = engine.ask({"type": "path_mtu_probe", **PROBE, "port": port})["result"]
    assert told["there"] is told["back"] is None
    assert told["elapsed_ns"] >= 100_000_000


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"most_bytes": 1279}, "most_bytes"),
        ({"most_bytes": 65_536}, "most_bytes"),
        ({"within_ns": 0}, "within_ns"),
        ({"within_ns": 10**11}, "within_ns"),
        ({"session": "x"}, "session"),
        ({"peer": "224.0.0.1"}, "peer"),
        ({"bind": "::1"}, "bind"),
    ],
)
def test_invalid_path_searches_are_refused(
    engine: RawEngine, changes: dict[str, Any], key: str
) -> None:
    refused = engine.refusal({"type": "path_mtu_probe", **PROBE, **changes})
    assert refused["code"] == "request.value"
    assert f"`{key}`" in refused["message"]
