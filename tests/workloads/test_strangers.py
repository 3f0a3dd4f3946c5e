"""What does not belong to a session gets no answer and changes no count."""

import secrets

import pytest
from datagram_relay import Relay, Way, relayed_trial, session_kind, session_message
from trial_running import Pair, module_pair

__all__ = ["module_pair"]

TOKEN = bytes(range(16))
OTHER_TOKEN = bytes(range(1, 17))


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
