"""What does not belong to a session gets no answer and changes no count."""

import secrets
import socket
import threading
from typing import Any

import pytest
from datagram_relay import Relay, Way, relayed_trial, session_kind, session_message
from trial_running import Pair, module_pair

from lanlab.engine import Measurement
from lanlab.workloads import Progress

__all__ = ["module_pair"]

TOKEN = bytes(range(16))
OTHER_TOKEN = bytes(range(1, 17))


def at(address: str) -> socket.socket:
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        sender.bind((address, 0))
    except OSError as error:
        sender.close()
        pytest.skip(f"{address} is not an address of this machine ({error.strerror})")
    sender.settimeout(10)
    return sender


def nothing_came(stranger: socket.socket) -> bool:
    """Whether nobody has answered; a refusal by the system is no answer."""
    stranger.setblocking(False)
    try:
        stranger.recv(2048)
    except ConnectionRefusedError:
        return nothing_came(stranger)
    except BlockingIOError:
        return True
    return False


def probe(size: int, session: int, flow: int = 0, sequence: int = 0, kind: int = 1) -> bytes:
    head = bytes([kind, 0]) + flow.to_bytes(2) + session.to_bytes(4) + sequence.to_bytes(8)
    return head.ljust(size, b"\0")


#: What a stranger may try, the stream having messages of 500 octets.
GARBAGE = [
    b"",
    b"x",
    bytes(500),
    secrets.token_bytes(500),
    bytes(501),
    bytes(64),
    b"lanlab\x02\x01",
    probe(500, session=0xDEAD_BEEF),
    probe(500, session=0x0C0D_0E0F, flow=1),
    probe(500, session=0x0C0D_0E0F, kind=2),
    session_message("hello", OTHER_TOKEN, first=1),
    session_message("prove", OTHER_TOKEN, first=1, second=1),
    session_message("mark", OTHER_TOKEN, first=0),
    session_message("finish", OTHER_TOKEN, first=0, second=5),
    session_message("hello", TOKEN)[:63],
    session_message("hello", TOKEN) + b"\0",
    session_message("hello", TOKEN).replace(b"\x02", b"\x01", 1),
]


def listening(
    pair: Pair, request_type: str, peer: str, transport: str = "udp"
) -> tuple[Measurement, int]:
    spec: dict[str, Any] = {
        "transport": transport,
        "message_size_bytes": 500,
        "amount": {"time_ns": 1_000_000_000},
        "socket": {},
        "warmup_ns": 0,
        "silence_ns": 1_000_000_000,
    }
    if request_type == "stream_receive":
        spec |= {"flows": 1, "io": "auto", "interval_ns": 100_000_000}
    else:
        spec |= {"timeout_ns": 100_000_000}
    measurement = pair.engines[1].start(
        {
            "type": request_type,
            "spec": spec,
            "bind": "127.0.0.1",
            "peer": peer,
            "session": TOKEN.hex(),
        }
    )
    return measurement, measurement.wait_ready(10)["ports"][0]


def test_another_port_is_not_heard_while_a_stream_runs(pair: Pair) -> None:
    ports: list[int] = []
    sent = threading.Event()
    with at("127.0.0.1") as stranger:

        def on_relay(relay: Relay) -> None:
            ports.append(relay.target_port)

        def on_progress(_: Progress) -> None:
            if not sent.is_set():
                sent.set()
                for datagram in (*GARBAGE, session_message("hello", TOKEN, first=1)):
                    try:
                        stranger.sendto(datagram, ("127.0.0.1", ports[0]))
                    except ConnectionRefusedError:
                        continue

        trial = relayed_trial(
            pair,
            "stream",
            on_relay=on_relay,
            on_progress=on_progress,
            message_size_bytes=500,
            messages=200,
            rate_messages_per_s=400,
        )
        assert sent.is_set()
        assert nothing_came(stranger)
    assert trial.metrics["received_messages"] == trial.metrics["sent_messages"] == 200
    assert trial.metrics["foreign_datagrams"] == 0
    assert trial.metrics["duplicate_messages"] == 0


def forty_paced(workload: str) -> dict[str, int]:
    """So many, not so long: a busy machine sends them later, and all of them."""
    amount, rate = {
        "stream": ("messages", "rate_messages_per_s"),
        "echo": ("requests", "rate_requests_per_s"),
    }[workload]
    return {"message_size_bytes": 500, amount: 40, rate: 200}


@pytest.mark.parametrize("workload", ["stream", "echo"])
def test_what_reaches_the_socket_is_distinguished(pair: Pair, workload: str) -> None:
    relays: list[Relay] = []

    def inject(number: int) -> None:
        if number == 20:
            for datagram in GARBAGE:
                relays[-1].to_target(datagram)

    there, back = Way(before=inject), Way()
    trial = relayed_trial(
        pair, workload, there, back, on_relay=relays.append, **forty_paced(workload)
    )
    # An empty datagram, too, is one.
    assert trial.target["foreign_datagrams"] == len(GARBAGE)
    if workload == "stream":
        assert trial.metrics["received_messages"] == trial.metrics["sent_messages"] == 40
        assert trial.metrics["duplicate_messages"] == trial.metrics["reordered_messages"] == 0
    else:
        assert trial.metrics["replies"] == trial.metrics["requests"] == 40
        assert trial.target["answered_messages"] == 40
    # What came back is of this session and answers what this session asked.
    token = there.messages[0][8:24]
    assert all(message[8:24] == token for message in back.messages)
    assert back.seen["challenge"] == there.seen["hello"]
    # One that is said again may find nobody any more.
    assert 1 <= back.seen["finished"] <= there.seen["finish"]


def test_replayed_session_messages_restart_nothing(pair: Pair) -> None:
    relays: list[Relay] = []

    def replay(number: int) -> None:
        if number == 50:
            for message in list(there.messages):
                relays[-1].to_target(message)
            # Another who knows the token, but not the cookie.
            token = there.messages[0][8:24]
            relays[-1].to_target(session_message("prove", token, 1, 2))

    there, back = Way(before=replay), Way()
    trial = relayed_trial(
        pair,
        "stream",
        there,
        back,
        on_relay=relays.append,
        message_size_bytes=500,
        messages=100,
        rate_messages_per_s=500,
    )
    # A busy machine may say them again before the answer is there; each was replayed once.
    assert back.seen["challenge"] == there.seen["hello"]
    assert back.seen["accept"] == 2 * there.seen["prove"]
    assert trial.metrics["received_messages"] == trial.metrics["sent_messages"] == 100
    assert trial.metrics["duplicate_messages"] == 0


def test_replayed_messages_of_the_stream_are_duplicates(pair: Pair) -> None:
    way = Way(repeat=frozenset(range(10, 60)))
    trial = relayed_trial(
        pair, "stream", way, message_size_bytes=500, messages=100, rate_messages_per_s=1000
    )
    assert trial.metrics["duplicate_messages"] == 50
    assert trial.metrics["received_messages"] == 100
    assert trial.target["total_bytes"] == 50_000


@pytest.mark.parametrize("workload", ["stream", "echo"])
def test_a_replayed_session_is_rejected(pair: Pair, workload: str) -> None:
    values = forty_paced(workload)
    recorded = Way()
    relayed_trial(pair, workload, recorded, **values)
    # Over with its session, its words are known: those that opened it, and those that ended it.
    assert {session_kind(message) for message in recorded.messages} >= {"hello", "prove", "finish"}
    relays: list[Relay] = []

    def replay(number: int) -> None:
        if number == 20:
            for message in recorded.messages:
                relays[-1].to_target(message)

    there, back = Way(before=replay), Way()
    trial = relayed_trial(pair, workload, there, back, on_relay=relays.append, **values)
    assert trial.target["foreign_datagrams"] == len(recorded.messages)
    counts = ("received", "sent") if workload == "stream" else ("replies", "requests")
    came, went = (trial.metrics[f"{n}_messages" if workload == "stream" else n] for n in counts)
    assert came == went == 40
    assert back.seen["challenge"] == there.seen["hello"]
    assert back.seen["accept"] == there.seen["prove"]
    token = there.messages[0][8:24]
    assert token != recorded.messages[0][8:24]
    assert all(message[8:24] == token for message in back.messages)


@pytest.mark.parametrize("request_type", ["stream_receive", "echo_respond"])
def test_a_connection_that_does_not_open_as_ours_is_closed(pair: Pair, request_type: str) -> None:
    measurement, port = listening(pair, request_type, "127.0.0.1", "tcp")
    for opening in (
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + bytes(64),
        session_message("hello", OTHER_TOKEN, first=1),
        session_message("finish", TOKEN),
    ):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as stranger:
            stranger.sendall(opening)
            # Closed without a word; an unread rest makes the system say so with a reset.
            try:
                assert stranger.recv(100) == b""
            except ConnectionResetError:
                continue
    with socket.create_connection(("127.0.0.1", port), timeout=10) as peer:
        peer.sendall(session_message("hello", TOKEN, first=9))
        answer = peer.recv(100)
        assert session_kind(answer) == "accept"
        assert int.from_bytes(answer[32:40]) == 9
    pair.engines[1].ask({"type": "cancel", "target": measurement.id})
