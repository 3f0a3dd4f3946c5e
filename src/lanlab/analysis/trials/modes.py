"""The I/O modes of a trial: how messages were sent, awaited and timestamped. Figures depend on the
modes, and so name them.
"""

from __future__ import annotations

import functools
from dataclasses import asdict

from lanlab.frozen import dataclass
from lanlab.messages import Choice
from lanlab.roles import ROLES, is_one_way
from lanlab.store import TrialRecord
from lanlab.store.large_runs import chosen, numbers

#: In an end's record.
_FIELDS = (
    *("io", "io_choice", "burst_messages", "receive", "receive_choice", "timestamps"),
    *("threads", "read_bytes"),
)


#: The modes in words, by mode.
_SENDS = {
    "single": "one message per call",
    "batch": "many messages per call",
    "segment": "messages split by segmentation offload",
}
_WAITS = {
    "block": "receiver waits in the system call",
    "poll": "receiver polls every 200 µs",
    "spin": "receiver polls without a pause",
}


@dataclass(frozen=True)
class Modes:
    """The I/O modes of one trial. `None` for modes that its workload does not have, or that a
    failed end did not report.
    """

    #: How the sender passed messages to the system: `single`, `batch` or `segment`.
    io: str | None
    io_reason: str | None
    burst_messages: int | None
    #: How the receiving end (for an echo: both) waited: `block`, `poll` or `spin`.
    receive: str | None
    receive_reason: str | None
    #: The source of arrival times: `program` or `kernel`.
    timestamps: str | None
    sender_threads: int | None
    receiver_threads: int | None
    #: Bytes per write, and maximum bytes per read. For TCP only, which has no message boundaries.
    write_bytes: int | None
    read_bytes: int | None

    def to_json(self) -> dict[str, str | int | None]:
        return asdict(self)

    @functools.lru_cache(maxsize=1024)  # noqa: B019 - few distinct values, thousands of calls
    def words(self, *, with_reasons: bool = True) -> str:
        """As one line, as in `many messages per call (…), at most 64, receiver polls every 200 µs`.

        Args:
            with_reasons: Whether to include the engine's reasons for its choice.
        """
        parts = []
        for names, mode, reason in (
            (_SENDS, self.io, self.io_reason),
            (_WAITS, self.receive, self.receive_reason),
        ):
            if mode is not None:
                because = f" ({reason})" if reason and with_reasons else ""
                parts.append(f"{names.get(mode, mode)}{because}")
        if self.burst_messages is not None and self.burst_messages > 1:
            parts.append(f"at most {self.burst_messages} messages at once")
        if self.write_bytes is not None:
            parts.append(f"writes of {self.write_bytes:,} B")
        if self.read_bytes is not None:
            parts.append(f"reads of up to {self.read_bytes:,} B")
        if self.timestamps is not None:
            parts.append(f"times by the {self.timestamps}")
        if self.sender_threads is not None and self.receiver_threads is not None:
            parts.append(
                f"threads {self.sender_threads} sending, {self.receiver_threads} receiving"
            )
        return ", ".join(parts)


def modes_of(trial: TrialRecord) -> Modes | None:
    """The modes of a trial; `None` if no engine of lanlab reported any."""
    sends, receives = (chosen(trial.raw, role, _FIELDS) for role in ROLES[trial.workload])
    if "receive" not in sends and "receive" not in receives:
        return None
    parameters = trial.parameters
    is_tcp = parameters.get("transport") == "tcp"
    is_stream = is_one_way(trial.workload)
    # A stream reports its timestamps; an echo uses the program's unless others were requested.
    asked = None if is_stream else parameters.get("timestamps")
    size = parameters.get("message_size_bytes")
    return Modes(
        io=sends.get("io"),
        io_reason=_reason(sends.get("io_choice")),
        burst_messages=sends.get("burst_messages"),
        receive=receives.get("receive", sends.get("receive")),
        receive_reason=_reason(receives.get("receive_choice")),
        timestamps=receives.get("timestamps", None if asked is None else str(asked)),
        sender_threads=sends.get("threads"),
        receiver_threads=receives.get("threads"),
        write_bytes=int(size) if is_tcp and is_stream and size is not None else None,
        read_bytes=receives.get("read_bytes") if is_tcp else None,
    )


def load_before(trial: TrialRecord) -> float | None:
    """The greatest load average of a host before a trial."""
    loads = numbers(trial.raw, "facts", "load_average")
    if loads is None:
        hosts = trial.facts.get("before", {}).get("hosts", {})
        loads = [facts.get("load_average") for facts in hosts.values() if isinstance(facts, dict)]
    return max((float(load) for load in loads if load is not None), default=None)


def _reason(choice: Choice | None) -> str | None:
    return None if choice is None else str(choice["reason"]).rstrip(".")
