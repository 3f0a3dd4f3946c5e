"""Disturbances of a trial in words: what was found, why it may mislead, what helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.disturbances.detect import Finding, Judgement, different
from lanlab.frozen import dataclass
from lanlab.units import format_time


@dataclass(frozen=True)
class _Kind:
    name: str
    #: Text with placeholders `found` and `allowed`.
    seen: str
    misleads: str
    helps: str


_QUIET = "stop other programs on this machine"
_KINDS: Mapping[str, _Kind] = {
    "testbed": _Kind(
        "testbed damaged",
        "the testbed was no longer {allowed}: {found}",
        "part of the trial ran on a damaged network",
        "lanlab rebuilds the testbed before the next trial",
    ),
    "steal": _Kind(
        "other virtual machines",
        "the hypervisor gave {found} of the CPU time to other virtual machines (limit {allowed})",
        "the results include their load",
        "use a machine that is not shared, or measure at another time",
    ),
    "foreign_cpu": _Kind(
        "other processes",
        "other processes used {found} of a CPU (limit {allowed})",
        "rates may be too low and times too long",
        _QUIET,
    ),
    "foreign_drops": _Kind(
        "other traffic",
        "backlogs dropped {found} packets that were not the trial's (limit {allowed})",
        "other traffic used the same path",
        "stop other traffic on this machine",
    ),
    "clock_step": _Kind(
        "clock stepped",
        "the system clock was stepped by {found} (limit {allowed})",
        "kernel timestamps before and after the step do not match",
        "wait until the clock is synchronised",
    ),
    "start_late": _Kind(
        "late start",
        "the sender started {found} late (limit {allowed})",
        "the receiver had to wait",
        _QUIET,
    ),
    "sender_stalled": _Kind(
        "sender stalled",
        "a message left {found} late (limit {allowed})",
        "the delayed messages left closer together than requested",
        _QUIET,
    ),
    "sender_late": _Kind(
        "sender late",
        "{found} of the messages left more than 1 ms late (limit {allowed})",
        "the sending rate was less even than requested",
        _QUIET,
    ),
    "sender_paused": _Kind(
        "sender paused",
        "the sender heard nothing from the receiver and paused for {found}",
        "less was sent than requested",
        "check whether the link was down or the receiver's machine was stopped",
    ),
    "medium_shift": _Kind(
        "medium late",
        "frames that the medium handed over late moved the result by {found} (limit {allowed})",
        "frames took longer than on a wire of that speed",
        _QUIET,
    ),
    "load": _Kind(
        "load",
        "the load average was {found} on {allowed} processors",
        "sender and receiver may have waited for a CPU",
        "stop other programs; the run's own trials are part of this load",
    ),
    "clock_source": _Kind(
        "slow clock",
        "the kernel's clock source was `{found}`",
        "each clock reading is a system call, which slows fast senders",
        "boot with clock source {allowed} if the machine has it",
    ),
    "governor": _Kind(
        "power saving",
        "the CPU frequency governor was `{found}`",
        "the CPU may be slow when a trial begins",
        "set it to {allowed}",
    ),
}
_RATIOS = ("steal", "sender_late", "medium_shift")
_TIMES = ("clock_step", "start_late", "sender_stalled", "sender_paused")


def name_of(code: str) -> str:
    return _KINDS[code].name


def seen(finding: Finding) -> str:
    seen = _KINDS[finding.code].seen.format(
        found=_text(finding.code, finding.found), allowed=_text(finding.code, finding.allowed)
    )
    return seen if finding.host is None else f"on {finding.host}: {seen}"


def warning(finding: Finding) -> str:
    kind = _KINDS[finding.code]
    helps = kind.helps.format(allowed=_text(finding.code, finding.allowed))
    return f"{seen(finding)}; {kind.misleads}: {helps}"


def flags(judgement: Judgement | None) -> str:
    """The pollution of a trial for a table; empty for an undisturbed one."""
    polluting = [] if judgement is None else [f for f in judgement.findings if f.repeat_helps]
    # Both hosts may have the same finding: name it once.
    return ", ".join(dict.fromkeys(name_of(finding.code) for finding in polluting))


def host_remarks(judged: Sequence[Judgement]) -> list[str]:
    """Remarks on the hosts of a run, each once with its worst case."""
    worst: dict[str, Finding] = {}
    counts: dict[str, int] = {}
    for judgement, count in different(judged):
        remarks = {f.code: f for f in judgement.findings if not f.repeat_helps}
        for code, finding in remarks.items():
            counts[code] = counts.get(code, 0) + count
            known = worst.get(code)
            if known is None or _exceeds(finding.found, known.found):
                worst[code] = finding
    return [
        f"{counts[code]} of {len(judged)} trials: {warning(finding)}."
        for code, finding in worst.items()
    ]


def not_judged(judged: Sequence[Judgement]) -> str | None:
    """What could not be checked because readings are missing; `None` if everything was checked."""
    lacking = [judgement for judgement in judged if judgement.unknown]
    if not lacking:
        return None
    codes = dict.fromkeys(code for judgement in lacking for code in judgement.unknown)
    names = ", ".join(name_of(code) for code in codes)
    return (
        f"{len(lacking)} of {len(judged)} trials lack the readings that show a disturbance "
        f"({names})."
    )


def _exceeds(found: float | str, known: float | str) -> bool:
    return not isinstance(found, str) and not isinstance(known, str) and found > known


def _text(code: str, value: float | str) -> str:
    if isinstance(value, str):
        return value
    if code in _RATIOS:
        return f"{100 * value:.3g} %"
    if code in _TIMES:
        return format_time(value / 1e9)
    return f"{value:.3g}" if isinstance(value, float) else str(value)
