"""A trial in which nothing arrived has measured nothing, and says why as far as that is known."""

from typing import Any

import pytest
from made_up_ends import exchange_of, stream_received, stream_sent

from lanlab.errors import EngineError
from lanlab.workloads.arrivals import check_echo, check_stream
from lanlab.workloads.outcome import CounterChanges
from lanlab.workloads.stream.parameters import StreamParameters
from lanlab.workloads.stream.workload import Stream

NOTHING: dict[str, Any] = {
    "window_messages": 0,
    "window_bytes": 0,
    "measured_messages": 0,
    "total_messages": 0,
    "total_bytes": 0,
    "mark_seen": False,
}
QUIET = CounterChanges()
REQUESTED = {"requests": 10, "replies": 0, "late_replies": 0}


def refused(size_bytes: int, changes: CounterChanges = QUIET, **received: Any) -> EngineError:
    outcome = exchange_of(stream_sent(), stream_received(**{**NOTHING, **received}))
    with pytest.raises(EngineError) as caught:
        check_stream(size_bytes, "udp", outcome, changes)
    return caught.value


def test_a_stream_without_received_messages_fails() -> None:
    parameters = StreamParameters(message_size_bytes=1400, time_s=1)
    outcome = exchange_of(stream_sent(), stream_received(**NOTHING))
    with pytest.raises(EngineError, match="none of the 1000 messages of 1400 bytes that were sent"):
        Stream().summarise(parameters, outcome, QUIET)
    error = refused(1400)
    assert (error.code, error.message.partition(": ")[2]) == (
        "stream.nothing_arrived",
        "lost were 1000 on the link",
    )
    assert "doctor --to HOST" in (error.hint or "")
    assert refused(64).hint is None


def test_counted_losses_are_not_blamed_on_message_length() -> None:
    error = refused(1400, socket_dropped_datagrams=1000)
    assert error.message.endswith("1000 in the receiver's socket buffer")
    assert error.hint is None
    error = refused(1400, CounterChanges({"sender": {"qdisc_drops": 400}}))
    assert error.message.endswith("lost were 400 in the sender's queue, 600 on the link")
    assert error.hint is None


def test_configured_loss_is_a_result() -> None:
    counted = {"medium_frames": 10, "medium_lost_chance": 1000}
    outcome = exchange_of(stream_sent(), stream_received(**NOTHING))
    check_stream(1400, "udp", outcome, CounterChanges({"sender": counted}))
    check_echo(1400, 1.0, REQUESTED, CounterChanges({"responder": counted}))


def test_unsent_messages_are_a_different_failure() -> None:
    sent = stream_sent(sent_messages=0, refused_messages=1000)
    with pytest.raises(EngineError, match="could be sent: the system refused 1000") as caught:
        check_stream(1400, "udp", exchange_of(sent, stream_received(**NOTHING)), QUIET)
    assert caught.value.code == "stream.nothing_sent"
    sent = stream_sent(sent_messages=0, unsent_messages=1000, blocked_ns=10**9)
    with pytest.raises(EngineError, match=r"bytes could be sent$"):
        check_stream(1400, "udp", exchange_of(sent, stream_received(**NOTHING)), QUIET)


@pytest.mark.parametrize("arrived", [NOTHING, {"window_messages": 52, "total_messages": 3000}])
@pytest.mark.parametrize("late", [0, 120])
def test_a_stream_that_sent_nothing_in_its_time_fails(late: int, arrived: dict[str, int]) -> None:
    """Without a rate none was due; with one, a sender without a processor has sent none of them."""
    sent = stream_sent(sent_messages=0, offered_messages=late, unsent_messages=late, blocked_ns=0)
    with pytest.raises(EngineError, match="no message was sent in the measured time") as caught:
        check_stream(1400, "udp", exchange_of(sent, stream_received(**arrived)), QUIET)
    assert caught.value.hint == "measure longer with `--time`"


def test_a_tcp_stream_that_arrived_outside_of_its_time_has_no_rate() -> None:
    parameters = StreamParameters(message_size_bytes=1400, time_s=1, transport="tcp")
    outcome = exchange_of(stream_sent(), stream_received(**{**NOTHING, "total_bytes": 1400}))
    with pytest.raises(EngineError, match=r"measured 1\.0 s; 1400 B did before or after") as caught:
        Stream().summarise(parameters, outcome, QUIET)
    assert caught.value.hint == "an end is slow or pauses: measure longer with `--time`"


def test_a_stream_with_any_received_message_is_a_result() -> None:
    received = stream_received(**{**NOTHING, "total_messages": 1, "total_bytes": 1400})
    check_stream(1400, "udp", exchange_of(stream_sent(), received), QUIET)


def test_an_echo_without_a_reply_fails() -> None:
    with pytest.raises(EngineError, match="none of the 10 requests of 1400 bytes") as caught:
        check_echo(1400, 1.0, REQUESTED, QUIET)
    assert "doctor" in (caught.value.hint or "")
    with pytest.raises(EngineError, match=r"answered within 0\.5 s; 3 were later") as caught:
        check_echo(1400, 0.5, {**REQUESTED, "late_replies": 3}, QUIET)
    assert caught.value.hint == "raise --timeout"
    check_echo(1400, 1.0, {**REQUESTED, "replies": 1}, QUIET)


def test_an_echo_that_sent_no_request_in_its_time_fails() -> None:
    none = {**REQUESTED, "requests": 0, "late_replies": 0}
    with pytest.raises(EngineError, match="no request was sent in the measured time") as caught:
        check_echo(1400, 1.0, none, QUIET)
    assert caught.value.code == "echo.nothing_sent"
