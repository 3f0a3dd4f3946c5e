"""
Fail trials in which nothing arrived. They measured nothing, and a goodput of zero would look like a
result; the error states the likely reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.errors import EngineError
from lanlab.messages import EchoRequested
from lanlab.workloads.outcome import CounterChanges, TrialOutcome
from lanlab.workloads.stream.losses import LOST_ON_THE_WAY, lost_by_place, lost_in_the_medium

#: Longest messages by which both ends agree on a session, bytes.
_SHORT_BYTES = 256
_PLACES: Mapping[str, str] = dict(
    zip(
        LOST_ON_THE_WAY,
        (
            "in the sender's queue",
            "on the link",
            "between the receiving interface and the protocols",
            "in the receiver's socket buffer",
            "as they came after the end",
        ),
        strict=True,
    )
)


def check_stream(
    size_bytes: int, transport: str, outcome: TrialOutcome, changes: CounterChanges, way: str = ""
) -> None:
    """
    Check that something was sent in the measured time, and that part of it arrived.

    Args:
        size_bytes: Size of a message.
        way: The direction, if there are two, with a space before it.

    Raises:
        EngineError: Nothing was sent or arrived, and no loss configured in lanlab's own medium
            explains it.
    """
    sent, received = outcome.results["sender"], outcome.results["receiver"]
    count = sent["sent_messages"]
    # Messages of the warm-up may arrive in the measured time. TCP may be within one long message.
    if (count > 0 or transport == "tcp") and (
        received["total_messages"] > 0 or received["total_bytes"] > 0
    ):
        return
    if count == 0:
        refused = sent["refused_messages"]
        if refused or sent["blocked_ns"]:
            why = f": the system refused {refused}" if refused else ""
            raise EngineError(
                "stream.nothing_sent", f"no message of {size_bytes} bytes could be sent{way}{why}"
            )
        raise EngineError(
            "stream.nothing_sent",
            f"no message was sent{way} in the measured time",
            hint="measure longer with `--time`",
        )
    if transport == "udp" and sum(lost_in_the_medium(changes, count).values()) > 0:
        # Configured random loss, collisions or full queues are a valid result.
        return
    where, hint = "", None
    if transport == "udp":
        lost = lost_by_place(sent, received, changes)
        places = [f"{lost[key]} {words}" for key, words in _PLACES.items() if lost.get(key, 0) > 0]
        where = f": lost were {', '.join(places)}" if places else ""
        hint = _hint(size_bytes) if lost["lost_link_messages"] == count else None
    raise EngineError(
        "stream.nothing_arrived",
        f"none of the {count} messages of {size_bytes} bytes that were sent{way} arrived{where}",
        hint=hint,
    )


def check_echo(
    size_bytes: int, timeout_s: float | None, requested: EchoRequested, changes: CounterChanges
) -> None:
    """
    Check that a request was answered.

    Args:
        timeout_s: The time-out, if one was given; `None`: it depends on the path.

    Raises:
        EngineError: No request was answered, and no loss configured in lanlab's own medium explains
            it; or none was sent.
    """
    count = requested["requests"]
    if requested["replies"] > 0:
        return
    if count == 0:
        # For example, waiting for the last reply of the warm-up may take longer than all the rest.
        raise EngineError(
            "echo.nothing_sent",
            "no request was sent in the measured time",
            hint="measure longer (--time), wait less for replies (--timeout), or send less often "
            "(--rate)",
        )
    late = requested["late_replies"]
    if late > 0:
        within = "in time" if timeout_s is None else f"within {timeout_s:g} s"
        raise EngineError(
            "echo.nothing_in_time",
            f"none of the {count} requests was answered {within}; {late} were later",
            hint="raise --timeout",
        )
    lost = (lost_in_the_medium(changes.swapped(("sender", end)), count) for end in _ENDS)
    if any(sum(each.values()) > 0 for each in lost):
        return
    raise EngineError(
        "echo.nothing_arrived",
        f"none of the {count} requests of {size_bytes} bytes was answered",
        hint=_hint(size_bytes),
    )


_ENDS = ("requester", "responder")


def _hint(size_bytes: int) -> str | None:
    if size_bytes <= _SHORT_BYTES:
        return None
    return (
        "both ends agreed on the session over the same path by short messages: a link on it may "
        "take none as long as these; `lanlab doctor --to HOST` finds the longest that pass, and a "
        "smaller --size may pass"
    )
