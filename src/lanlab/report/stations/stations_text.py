"""Trials of stations for the terminal: a table with a line for each number of stations, and the
number that the server supports.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.analysis.attempts import counting
from lanlab.analysis.station_hosts import HostShare, host_shares
from lanlab.analysis.summary import interval_of_mean
from lanlab.figures.number_text import is_too_wide, percent
from lanlab.report.document.table import EMPTY, Cell, Column, Table, words
from lanlab.services import SERVICES
from lanlab.store import TrialRecord
from lanlab.units import format_rate, format_time
from lanlab.workloads.carrier_counts import trouble_words

if TYPE_CHECKING:
    from lanlab.analysis.stations import StationCurve, StationsWithin

#: Points that deviate from Little's law by more are flagged: right counts satisfy it.
_LITTLE_WITHIN = 0.01
_COLUMNS = (
    Column("stations", "stations", "stations"),
    Column("operations_per_s", "operations/s", "operations/s"),
    Column("goodput_bps", "goodput", "goodput", rank=1),
    Column("response_mean_ns", "response", "response"),
    Column("response_half_width_ns", "95 % interval", "95 % interval"),
    Column("response_p99_ns", "p99", "p99", rank=2),
    Column("jain_index", "fairness", "fairness", rank=4),
    Column("errors", "errors", "errors", rank=3),
    Column("remark", "", "remark", is_number=False),
)


def stations_table(trials: Sequence[TrialRecord]) -> Table:
    """A line for each number of stations: means over the trials that count."""
    by_number: dict[int, list[TrialRecord]] = {}
    for trial in counting(trials):
        by_number.setdefault(int(trial.parameters["stations"]), []).append(trial)
    failed: dict[int, list[TrialRecord]] = {}
    for trial in trials:
        if trial.status == "failed":
            failed.setdefault(int(trial.parameters["stations"]), []).append(trial)
    rows = [
        _row(number, by_number.get(number, []), failed.get(number, []))
        for number in sorted({*by_number, *failed})
    ]
    return Table("stations", "by number of stations", _COLUMNS, tuple(rows))


def _row(
    number: int, trials: Sequence[TrialRecord], failed: Sequence[TrialRecord]
) -> tuple[Cell, ...]:
    def mean(metric: str) -> float | None:
        values = [trial.metrics[metric] for trial in trials if metric in trial.metrics]
        return sum(values) / len(values) if values else None

    def cell(value: float | None, text: str) -> Cell:
        return EMPTY if value is None else Cell(value, text)

    if not trials:
        return (Cell(number, str(number)), *(EMPTY for _ in _COLUMNS[2:]), _words(_until(failed)))
    rate, goodput = mean("operations_per_s"), mean("goodput_bps")
    response, slow = mean("response_mean_ns"), mean("response_p99_ns")
    jain, errors = mean("jain_index"), mean("errors")
    means = [t.metrics["response_mean_ns"] for t in trials if "response_mean_ns" in t.metrics]
    interval = interval_of_mean("response_mean_ns", [float(each) for each in means])
    return (
        Cell(number, str(number)),
        cell(rate, f"{rate:,.0f}" if rate is not None and rate >= 100 else f"{rate or 0:.3g}"),
        cell(goodput, format_rate(goodput or 0.0)),
        cell(response, format_time((response or 0.0) / 1e9)),
        _interval_cell(response or 0.0, interval),
        cell(slow, format_time((slow or 0.0) / 1e9)),
        cell(jain, f"{jain or 0.0:.3f}"),
        cell(errors, f"{errors or 0.0:.3g}"),
        _words(", ".join(filter(None, (_remark(trials), _missing(trials, failed))))),
    )


def _until(failed: Sequence[TrialRecord]) -> str:
    done = sum(int(t.result("client").get("readings_count") or 0) for t in failed)
    return f"failed after {done:,} attempts at operations" if done else "failed"


def _missing(trials: Sequence[TrialRecord], failed: Sequence[TrialRecord]) -> str:
    return f"{len(failed)} of {len(trials) + len(failed)} trials failed" if failed else ""


def _words(text: str) -> Cell:
    return Cell(text, text) if text else EMPTY


def _interval_cell(mean: float, interval: tuple[float, float] | None) -> Cell:
    if interval is None:
        return EMPTY
    ends = " … ".join(format_time(end / 1e9) for end in interval)
    ends = "too few trials" if is_too_wide(mean, interval) else ends
    return Cell((interval[1] - interval[0]) / 2, ends)


def _remark(trials: Sequence[TrialRecord]) -> str:
    """Caveats about the numbers in a row; empty if there are none."""
    said = []
    said += list(dict.fromkeys(word for trial in trials if (word := _unsteady(trial))))
    if any(trial.metrics.get("wrong_data") for trial in trials):
        said.append("WRONG DATA")
    ended = max(int(trial.metrics.get("ended_stations", 0)) for trial in trials)
    if ended:
        said.append(f"{ended} stations ended early")
    every = max((_thinned(trial) for trial in trials), default=1)
    if every > 1:
        said.append(f"1 of {every} readings saved")
    said += _frames(trials)
    disturbed = sum(trial.is_disturbed for trial in trials)
    said += [f"{disturbed} of {len(trials)} disturbed"] if disturbed else []
    little = [t.metrics["little_ratio"] for t in trials if "little_ratio" in t.metrics]
    closed = all(trial.parameters["loop"] == "closed" for trial in trials)
    if closed and any(abs(ratio - 1) > _LITTLE_WITHIN for ratio in little):
        worst = max(little, key=lambda ratio: abs(ratio - 1))
        said.append(f"Little's law: {worst:.3f}")
    busy = [
        t.metrics["busiest_thread_ratio"] for t in trials if "busiest_thread_ratio" in t.metrics
    ]
    if busy and max(busy) > 0.9 and not SERVICES[str(trials[0].parameters["service"])].is_local:
        said.append("limited by this host")
    return ", ".join(said)


def _frames(trials: Sequence[TrialRecord]) -> list[str]:
    said = []
    for role, whose in (("client", "frames"), ("server", "server's frames")):
        counted = Counter[str]()
        for trial in trials:
            counted.update(trial.result(role).get("carrier") or {})
        if words := trouble_words(counted):
            said.append(f"{whose}: {'; '.join(words)}")
    return said


def _thinned(trial: TrialRecord) -> int:
    how = trial.result("client").get("thinned") or {}
    return int(how.get("every", 1))


def _unsteady(trial: TrialRecord) -> str:
    from lanlab.workloads.station_steady import least_readings

    if trial.metrics.get("steady_ratio") != 0:
        return ""
    sums = trial.result("client").get("station_sums") or {}
    steady = sums.get("steady") or {}
    if steady and steady["active_end_ns"] <= steady["active_start_ns"]:
        return "never all active"
    is_short = trial.metrics.get("readings", 0) < least_readings()
    return "too few readings" if is_short else "not steady"


def answer_sentence(trials: Sequence[TrialRecord], limit_s: float, of: str = "mean") -> str:
    """
    The number of users up to which the response time stays within a limit, or that the limit was
    not reached.

    Args:
        of: Which response time: `mean`, `p50`, `p90` or `p99`.
    """
    from lanlab.analysis.stations import stations_within

    what = "mean response time" if of == "mean" else f"response time ({of})"
    curves = _curves(trials, of)
    if not curves:
        return f"No trial has a {what}, so the number of users is not known."
    found = stations_within(curves[0], limit_s, can_predict=of == "mean")
    # Arithmetic means, rounded as in the table; the models use logarithms.
    responses = {level.stations: sum(level.response_s) / level.trials for level in curves[0].levels}
    return _sentence(found, responses, what)


def is_answered(trials: Sequence[TrialRecord], of: str = "mean") -> bool:
    """Whether `answer_sentence` can compare a response time with the limit."""
    return bool(_curves(trials, of))


def _curves(trials: Sequence[TrialRecord], of: str) -> Sequence[StationCurve]:
    from lanlab.analysis.stations import curves_of

    ids = sorted({trial.experiment for trial in trials})
    return curves_of(trials, ids, f"response_{of}_ns")


def _sentence(found: StationsWithin, responses: dict[int, float], what: str) -> str:
    limit = format_time(found.limit_s)
    most = max(responses)
    if found.basis == "measured" and found.stations:
        between = f"{_users(found.last_within)}: {_time(responses, found.last_within)}"
        between += f"; {found.first_beyond}: {_time(responses, found.first_beyond)}"
        return (
            f"{_users(found.stations)}{_interval(found)} can be served before the {what} exceeds "
            f"{limit} (measured with {between})."
        )
    if found.basis in ("measured", "fewest"):
        fewest = min(responses)
        with_fewest = _time(responses, fewest)
        return (
            f"Not even {_users(fewest)} can be served within a {what} of {limit}: "
            f"it is {with_fewest}."
        )
    reached = (
        f"With {_users(most)}, the most measured, the {what} is "
        f"{_time(responses, most)}: {limit} was not reached"
    )
    if found.basis == "predicted" and found.stations:
        return (
            f"{reached}; a model fitted to the measurements predicts that more than "
            f"{_users(found.stations)}{_interval(found)} would exceed it."
        )
    return f"{reached}. How many more users can be served is not known."


def _interval(found: StationsWithin) -> str:
    if found.low is None and found.high is None:
        return ""
    high = "more" if found.high is None else f"{found.high}"
    return f" (95 % interval: {found.low} to {high})"


def _users(number: int | None) -> str:
    return "1 user" if number == 1 else f"{number} users"


def _time(responses: dict[int, float], number: int | None) -> str:
    return format_time(responses[number]) if number in responses else "not measured"


_HOST_COLUMNS = (
    Column("stations", "stations", "stations"),
    Column("host", "host", "host", is_number=False),
    Column("stations of the host", "of them here", "here", rank=4),
    Column("n", "n"),
    Column("operations per s", "operations/s", "operations/s"),
    Column("share of the operations (ratio)", "share", "share"),
    Column("goodput (bit/s)", "goodput", "goodput", rank=3),
    Column("mean response (ns)", "response", "response"),
    Column("greatest start skew (ns)", "start skew", "start skew", rank=2),
    Column("greatest clock error (ns)", "clock error", "clock error", rank=1),
)


def host_table(trials: Sequence[TrialRecord], experiment: str) -> Table:
    """
    A row for each host at each number of stations: means over the trials that count.

    Returns:
        No rows if no trial had several hosts.
    """
    found: dict[tuple[int, int], list[HostShare]] = {}
    own = [t for t in trials if t.experiment == experiment and "stations" in t.parameters]
    for trial in counting(own):
        for place, share in enumerate(host_shares(trial)):
            found.setdefault((int(trial.parameters["stations"]), place), []).append(share)
    rows = [_host_row(*key, found[key]) for key in sorted(found)]
    return Table(f"{experiment}-hosts", "By client host", _HOST_COLUMNS, tuple(rows))


def _host_row(stations: int, place: int, shares: Sequence[HostShare]) -> tuple[Cell, ...]:
    def mean(name: str) -> float:
        return math.fsum(getattr(share, name) for share in shares) / len(shares)

    rate, ratio, response = (
        mean(name) for name in ("operations_per_s", "operations_ratio", "response_mean_ns")
    )
    skew = max(share.start_skew_ns for share in shares)
    error = max(share.clock_error_ns for share in shares)
    return (
        Cell(stations, str(stations)),
        words(shares[0].host),
        Cell(shares[0].stations, str(shares[0].stations)),
        Cell(len(shares), str(len(shares))),
        Cell(rate, f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"),
        Cell(ratio, percent(ratio)),
        Cell(mean("goodput_bps"), format_rate(mean("goodput_bps"))),
        Cell(response, format_time(response / 1e9)),
        Cell(skew, format_time(skew / 1e9)),
        Cell(error, f"± {format_time(error / 1e9)}" if error else "" if place == 0 else "none"),
    )
