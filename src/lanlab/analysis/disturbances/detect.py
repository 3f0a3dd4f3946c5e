"""
Whether other activity disturbed a trial, judged from its record.

Each check has a limit; `docs/measuring.md` explains the limits. Some results are *pollution*:
another trial may be free of it, so a study may repeat such trials. Others are *remarks*: they apply
to every trial on that host, and repeating does not help.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TypeVar

from lanlab import trial_data as m
from lanlab.frozen import dataclass
from lanlab.roles import REVERSE_PREFIX, ROLES, every_place
from lanlab.store.large_runs import equal_once, text_of

#: Share of all processors' time that the hypervisor may take.
ALLOWED_STEAL_RATIO = 0.01
#: Processor time that other programs may use, as a share of one processor.
ALLOWED_FOREIGN_PROCESSORS = 0.1
#: Step size of `/proc/stat`, which rounds down. So a difference of two readings is accurate to one
#: step.
STAT_RESOLUTION_NS = 10_000_000
#: Packets that backlogs dropped beyond the trial's losses: the session's own few messages.
ALLOWED_FOREIGN_DROPS = 10
#: Time daemons step a clock by at least 128 ms (ntpd). Two clocks are read at different instants.
ALLOWED_CLOCK_STEP_NS = 10_000_000
#: Time that a thread may wait for a busy processor.
ALLOWED_LATENESS_NS = 10_000_000
#: Share of the messages that may leave more than 1 ms after their slot.
ALLOWED_LATE_RATIO = 0.05
ALLOWED_START_SKEW_NS = 10_000_000
#: How far late frames of the medium may shift a median round trip, as a share of it.
ALLOWED_ROUND_TRIP_SHIFT = 0.02
#: Combined lateness of a round trip's two frames on a quiet medium, ns.
USUAL_LATENESS_NS = 10_000
#: Allowed share of late frames for workloads other than round trips. There the wire's schedule
#: sets the pace, so a late frame does not shift the others: only frames that are late at the end
#: of the measured time are missed.
ALLOWED_GOODPUT_SHIFT = 0.005
#: A smaller share of late frames does not matter.
_FEW_FRAMES_RATIO = 0.01
#: Clock sources that a program can read without a system call.
QUICK_CLOCK_SOURCES = (
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "hyperv_clocksource_tsc_page",
    "riscv_clocksource",
    "timebase",
    "tod",
)

REMARKS = ("load", "clock_source", "governor")
_OF_WINDOW = ("steal", "foreign_cpu", "foreign_drops", "clock_step")
_LOST_ONE_WAY = ("lost_messages", "retransmitted_segments", "timeouts")
_LOST = (*_LOST_ONE_WAY, *(f"{REVERSE_PREFIX}{key}" for key in _LOST_ONE_WAY))


@dataclass(frozen=True)
class Finding:
    #: `testbed` (a change of it since set-up), `steal` (ratio), `foreign_cpu` (processors),
    #: `foreign_drops` (packets), `clock_step`, `sender_stalled`, `sender_paused`, `start_late`
    #: (ns), `sender_late`, `medium_shift` (ratio), `load` (mean of waiting and running threads),
    #: `clock_source` and `governor` (names).
    code: str
    #: `source` or `target`.
    end: str
    found: float | str
    allowed: float | str
    repeat_helps: bool
    host: str | None = None


@dataclass(frozen=True)
class Judgement:
    findings: tuple[Finding, ...]
    unknown: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """In the form of the trial's record, under `pollution`."""
        return {"findings": [asdict(f) for f in self.findings], "unknown": list(self.unknown)}


def judgement_of(raw: Mapping[str, object]) -> Judgement | None:
    """The judgement in a trial's record; `None` if the trial was not judged."""
    text = text_of(raw, "pollution")
    return _read(text) if text else _made(m.pollution_of(raw))


#: Thousands of trials have equal judgements.
@functools.lru_cache(maxsize=4096)
def _read(text: str) -> Judgement | None:
    return _made(equal_once(text))


def _made(kept: m.Pollution | None) -> Judgement | None:
    if kept is None:
        return None
    findings = tuple(Finding(**found) for found in kept["findings"])
    return Judgement(findings, tuple(kept["unknown"]))


_Judged = TypeVar("_Judged", Judgement, Judgement | None)


def different(judged: Sequence[_Judged]) -> list[tuple[_Judged, int]]:
    """Each judgement, and its number of trials."""
    first = dict(zip(map(id, judged), judged, strict=True))
    return [(first[key], count) for key, count in Counter(map(id, judged)).items()]


def judge(
    raw: Mapping[str, object],
    metrics: Mapping[str, float],
    hosts: Mapping[str, m.HostSeen],
    others: Mapping[str, m.HostSeen] | None = None,
) -> Judgement:
    """
    Judge a finished trial.

    Args:
        raw: The trial's record, with its facts, and the results of both roles. Each has the `host`
            window measured by its host; otherwise `cpu` has its own usage.
        metrics: Its results.
        hosts: By role, the initiator first, the constant facts of the host.
        others: For roles with several hosts, these facts by the host's name in its result.
    """
    first, last = tuple(hosts)
    findings = [
        *_of_testbed(raw, first),
        *_of_medium(raw, metrics, first, ROLES["echo"][0] in hosts),
    ]
    unknown: set[str] = set()
    for kernel in _kernels(raw, hosts, others or {}):
        if kernel.window is None:
            unknown.update(_OF_WINDOW)
        else:
            findings += _of_processors(kernel, unknown)
            findings += _of_drops(kernel, metrics, unknown)
            findings += _of_calendar(kernel)
        findings += _of_facts(kernel, raw)
    findings += _of_sender(m.result_of(raw, first), metrics, first, last)
    back_first, back_last = (f"{REVERSE_PREFIX}{role}" for role in (first, last))
    if first in ROLES["load"]:
        sends, receives = ROLES["stream"]
        for prefix in ("", REVERSE_PREFIX):
            sent = m.result_of(raw, f"{prefix}{sends}")
            findings += _of_sender(sent, {}, f"{prefix}{sends}", f"{prefix}{receives}")
    if back_first in raw:
        # In a bidirectional stream, findings of the second sender.
        back = {
            key.removeprefix(REVERSE_PREFIX): value
            for key, value in metrics.items()
            if key.startswith(REVERSE_PREFIX)
        }
        findings += _of_sender(m.result_of(raw, back_first), back, back_first, back_last)
    return Judgement(tuple(findings), tuple(code for code in _OF_WINDOW if code in unknown))


def _of_testbed(raw: Mapping[str, object], role: str) -> Iterator[Finding]:
    damage = m.facts_of(raw).get("after", {}).get("damage")
    if damage is not None:
        yield Finding("testbed", role, damage, "as it was made", True)


def medium_lateness(raw: Mapping[str, object]) -> m.MediumLateness | None:
    """The lateness of a link's medium during a trial, from its record; during the measured time, if
    recorded. `None` for a link without a medium, or if it carried nothing.
    """
    timed = m.setup_of(raw).get("medium")
    read = timed or m.facts_of(raw).get("after", {}).get("medium")
    lateness = None if read is None else read.get("lateness")
    return lateness if lateness and lateness["deliveries"] else None


def _of_medium(
    raw: Mapping[str, object], metrics: Mapping[str, float], role: str, is_echo: bool
) -> Iterator[Finding]:
    lateness = medium_lateness(raw)
    result = m.result_of(raw, role)
    elapsed_ns = result.get("elapsed_ns") or (result.get("host") or {}).get("elapsed_ns")
    if lateness is None or not elapsed_ns:
        return
    if is_echo:
        shift, allowed = _shift_of_round_trips(lateness, metrics, elapsed_ns)
    else:
        late = lateness["late_deliveries"] / lateness["deliveries"]
        shift = lateness["p99_ns"] / elapsed_ns if late > _FEW_FRAMES_RATIO else 0.0
        allowed = ALLOWED_GOODPUT_SHIFT
    if shift > allowed:
        yield Finding("medium_shift", role, shift, allowed, True)


def _shift_of_round_trips(
    lateness: m.MediumLateness, metrics: Mapping[str, float], elapsed_ns: float
) -> tuple[float, float]:
    """The share by which the medium lengthened round trips, and the allowed share.

    The median is lengthened by two median frames; the mean by at most the longest wait of frames in
    one round trip. Other frames may have waited before or after it, or while none was in flight.
    """
    late_ns, median_ns = 2 * lateness["p50_ns"], metrics.get("rtt_p50_ns", 0)
    # A frame that is delivered late adds to a round trip like one that is accepted late.
    waited_ns: float = max(lateness["longest_gap_ns"], lateness["longest_ns"])
    if "rtt_max_ns" in metrics:
        waited_ns = min(waited_ns, metrics["rtt_max_ns"] - median_ns)
    is_later = late_ns > USUAL_LATENESS_NS and median_ns > 0
    shift = max(waited_ns / elapsed_ns, late_ns / median_ns if is_later else 0.0)
    return shift, ALLOWED_ROUND_TRIP_SHIFT


@dataclass(frozen=True)
class _End:
    role: str
    result: m.RoleResult
    facts: m.HostSeen
    host: str | None = None


def _ends(
    raw: Mapping[str, object], hosts: Mapping[str, m.HostSeen], others: Mapping[str, m.HostSeen]
) -> Iterator[_End]:
    for role, facts in hosts.items():
        result = _longest_watched(raw, role)
        if "hosts" not in result:
            yield _End(role, result, facts)
        for part in result.get("hosts", ()):
            yield _End(role, part, others.get(part["name"], {}), part["name"])


@dataclass(frozen=True)
class _Kernel:
    ends: Sequence[_End]
    #: The longest of the hosts' windows: all begin at the start of the measured part.
    window: m.HostWindow | None
    #: CPU time of the medium between the ends, ns: the trial's own load.
    medium_ns: int

    @property
    def facts(self) -> m.HostSeen:
        return self.ends[0].facts

    def found(self, code: str, found: float | str, allowed: float | str) -> Finding:
        first = self.ends[0]
        host = first.host if len(self.ends) == 1 else None
        return Finding(code, first.role, found, allowed, code not in REMARKS, host)


def _kernels(
    raw: Mapping[str, object], hosts: Mapping[str, m.HostSeen], others: Mapping[str, m.HostSeen]
) -> Iterator[_Kernel]:
    groups: dict[object, list[_End]] = {}
    for place, end in enumerate(_ends(raw, hosts, others)):
        # A host with an unknown boot id counts as a separate machine.
        groups.setdefault(end.facts.get("boot_id") or place, []).append(end)
    for ends in groups.values():
        windows = [host for end in ends if (host := end.result.get("host")) is not None]
        yield _Kernel(
            ends,
            window=max(windows, key=lambda window: int(window["elapsed_ns"]), default=None),
            medium_ns=_medium_cpu_ns(raw),
        )


def _longest_watched(raw: Mapping[str, object], role: str) -> m.RoleResult:
    """The result of the host in a role. For an echo during streams, the streams' result if its
    window is longer: an engine's window covers all its work.
    """
    own = m.result_of(raw, role)
    if role not in ROLES["load"]:
        return own
    places = every_place("load", None)
    there = [m.result_of(raw, each) for each, place in places.items() if place == places[role]]
    watched = [(host, one) for one in there if (host := one.get("host")) is not None]
    return max(watched, key=lambda each: each[0]["elapsed_ns"], default=(None, own))[1]


def _medium_cpu_ns(raw: Mapping[str, object]) -> int:
    """CPU time of the medium during the trial; 0 for a link without one."""
    facts = m.facts_of(raw)
    before, after = (
        each.get("medium") for each in (facts.get("before", {}), facts.get("after", {}))
    )
    return 0 if before is None or after is None else int(after["cpu_ns"]) - int(before["cpu_ns"])


def _of_processors(kernel: _Kernel, unknown: set[str]) -> Iterator[Finding]:
    assert kernel.window is not None
    elapsed_ns, times = kernel.window["elapsed_ns"], kernel.window["processors"]
    processors = kernel.facts.get("processors_online")
    own_ns = [_own_cpu_ns(end.result) for end in kernel.ends]
    if processors is None or elapsed_ns <= 0:
        unknown.update(("steal", "foreign_cpu"))
        return
    all_ns = processors * elapsed_ns
    steal, allowed = times["steal_ns"] / all_ns, STAT_RESOLUTION_NS / all_ns
    if steal > ALLOWED_STEAL_RATIO + allowed:
        yield kernel.found("steal", steal, ALLOWED_STEAL_RATIO + allowed)
    if any(own is None for own in own_ns):
        unknown.add("foreign_cpu")
        return
    # Busy time is total minus idle: the kernel samples busy time at its ticks, and showed 0.93 of a
    # processor instead of 0.12 for a paced sender that wakes in step with them.
    busy_ns = all_ns - times["idle_ns"] - times["steal_ns"]
    # Most soft interrupts during a trial serve it. Some kernels also charge them to the interrupted
    # thread; they are then subtracted twice, so the result is too low, not too high.
    others_ns = busy_ns - times["soft_interrupt_ns"] - sum(own or 0 for own in own_ns)
    others_ns -= kernel.medium_ns
    foreign = others_ns / elapsed_ns
    # Two readings are rounded: idle and stolen time.
    allowed = ALLOWED_FOREIGN_PROCESSORS + 2 * STAT_RESOLUTION_NS / elapsed_ns
    if foreign > allowed:
        yield kernel.found("foreign_cpu", foreign, allowed)


def _own_cpu_ns(result: m.RoleResult) -> int | None:
    if (host := result.get("host")) is not None:
        return host["engine_cpu_ns"]
    if (cpu := result.get("cpu")) is not None:
        return cpu["user_ns"] + cpu["system_ns"]
    return None


def _of_drops(
    kernel: _Kernel, metrics: Mapping[str, float], unknown: set[str]
) -> Iterator[Finding]:
    assert kernel.window is not None
    dropped = kernel.window["softnet_dropped"]
    own = [metrics[key] for key in _LOST if key in metrics]
    if not own and dropped > ALLOWED_FOREIGN_DROPS:
        # The trial itself may have caused the drops.
        unknown.add("foreign_drops")
        return
    excess = dropped - sum(own)
    if excess > ALLOWED_FOREIGN_DROPS:
        yield kernel.found("foreign_drops", excess, ALLOWED_FOREIGN_DROPS)


def _of_calendar(kernel: _Kernel) -> Iterator[Finding]:
    assert kernel.window is not None
    step_ns = kernel.window["clock_step_ns"]
    if abs(step_ns) > ALLOWED_CLOCK_STEP_NS:
        yield kernel.found("clock_step", step_ns, ALLOWED_CLOCK_STEP_NS)


def _of_facts(kernel: _Kernel, raw: Mapping[str, object]) -> Iterator[Finding]:
    hosts = m.facts_of(raw).get("before", {}).get("hosts", {})
    before = hosts.get(kernel.facts.get("name", ""), {})
    processors, load = kernel.facts.get("processors_online"), before.get("load_average")
    if processors is not None and load is not None and load > processors:
        yield kernel.found("load", load, processors)
    clock = before.get("clock_source")
    if clock is not None and clock not in QUICK_CLOCK_SOURCES:
        yield kernel.found("clock_source", clock, ", ".join(QUICK_CLOCK_SOURCES))
    if before.get("governor") == "powersave":
        yield kernel.found("governor", "powersave", "performance, schedutil, ondemand")


def _of_sender(
    sent: m.RoleResult, metrics: Mapping[str, float], first: str, last: str
) -> Iterator[Finding]:
    """A sender that lost the processor although it could keep up with its rate."""
    skew_ns, allowed_ns = metrics.get("start_skew_ns", 0), ALLOWED_START_SKEW_NS
    if metrics.get("operations_per_s", 0) > 0:
        # Stations of a thread start one after another; each has started once all were served.
        allowed_ns += round(1e9 * metrics.get("stations", 0) / metrics["operations_per_s"])
    if skew_ns > allowed_ns:
        yield Finding("start_late", first, skew_ns, allowed_ns, True)
    paused_ns = sent.get("paused_ns", 0)
    if paused_ns > 0:
        yield Finding("sender_paused", last, paused_ns, 0, True)
    offered, lateness_ns = sent.get("offered_messages", 0), sent.get("max_lateness_ns", 0)
    if not offered:
        return
    # The rate exceeds the capacity of the link or this machine: a result, not a disturbance.
    if sent["unsent_messages"] > 0 or sent["blocked_ns"] > ALLOWED_LATENESS_NS:
        return
    # A wait that is shorter than the interval between two messages has no effect.
    allowed_ns = max(ALLOWED_LATENESS_NS, sent["elapsed_ns"] // offered)
    if lateness_ns > allowed_ns:
        yield Finding("sender_stalled", first, lateness_ns, allowed_ns, True)
    late = sent["late_messages"] / offered
    if late > ALLOWED_LATE_RATIO:
        yield Finding("sender_late", first, late, ALLOWED_LATE_RATIO, True)
