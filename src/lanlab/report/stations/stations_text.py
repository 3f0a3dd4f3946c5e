"""Trials of stations for the terminal: a table with a line for each number of stations, and the
number that the server supports.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lanlab.analysis.stations.hosts import HostShare, host_shares
from lanlab.analysis.trials.attempts import counting
from lanlab.analysis.trials.summary import interval_of_mean
from lanlab.figures.number_text import counted, is_too_wide, percent
from lanlab.report.document.table import EMPTY, Cell, Column, Table, cell, words
from lanlab.services import SERVICES
from lanlab.store import TrialRecord
from lanlab.units import format_rate, format_time
from lanlab.workloads.carrier_counts import trouble_words

if TYPE_CHECKING:
    from lanlab.analysis.stations.answer import StationsWithin
    from lanlab.analysis.stations.levels import StationCurve

#: Points that deviate from Little's law by more are flagged: right counts satisfy it.
_LITTLE_WITHIN = 0.01
_RESPONSE = "response_mean_ns"
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
    return Table("stations", "By number of stations", _COLUMNS, tuple(rows))


def _row(
    number: int, trials: Sequence[TrialRecord], failed: Sequence[TrialRecord]
) -> tuple[Cell, ...]:
    def mean(metric: str, write: Callable[[float], str]) -> Cell:
        values = [trial.metrics[metric] for trial in trials if metric in trial.metrics]
        return cell(sum(values) / len(values) if values else None, write)

    if not trials:
        done = sum(int(t.result("client").get("readings_count") or 0) for t in failed)
        said = f"failed after {done:,} attempts at operations" if done else "failed"
        return (cell(number), *(EMPTY for _ in _COLUMNS[2:]), words(said))
    means = [float(t.metrics[_RESPONSE]) for t in trials if _RESPONSE in t.metrics]
    lost = f"{len(failed)} of {len(trials) + len(failed)} trials failed" if failed else ""
    remark = ", ".join(filter(None, (_remark(trials), lost)))
    return (
        cell(number),
        mean("operations_per_s", _rate),
        mean("goodput_bps", format_rate),
        mean(_RESPONSE, _time_of_ns),
        _interval_cell(means),
        mean("response_p99_ns", _time_of_ns),
        mean("jain_index", "{:.3f}".format),
        mean("errors", "{:.3g}".format),
        words(remark) if remark else EMPTY,
    )


def _rate(per_s: float) -> str:
    return f"{per_s:,.0f}" if per_s >= 100 else f"{per_s:.3g}"


def _time_of_ns(time_ns: float) -> str:
    return format_time(time_ns / 1e9)


def _interval_cell(means: Sequence[float]) -> Cell:
    interval = interval_of_mean(_RESPONSE, means)
    if interval is None:
        return EMPTY
    ends = " … ".join(map(_time_of_ns, interval))
    is_wide = is_too_wide(sum(means) / len(means), interval)
    return Cell((interval[1] - interval[0]) / 2, "too few trials" if is_wide else ends)


def _remark(trials: Sequence[TrialRecord]) -> str:
    said = []
    said += list(dict.fromkeys(word for trial in trials if (word := _unsteady(trial))))
    if any(trial.metrics.get("wrong_data") for trial in trials):
        said.append("WRONG DATA")
    ended = max(int(trial.metrics.get("ended_stations", 0)) for trial in trials)
    if ended:
        said.append(f"{counted(ended, 'station')} ended early")
    thinned = (trial.result("client").get("thinned") or {} for trial in trials)
    every = max((int(how.get("every", 1)) for how in thinned), default=1)
    if every > 1:
        said.append(f"1 of {every} readings saved")
    said += _frames(trials)
    disturbed = sum(trial.is_disturbed for trial in trials)
    said += [f"{disturbed} of {len(trials)} disturbed"] if disturbed else []
    little = [t.metrics["little_ratio"] for t in trials if "little_ratio" in t.metrics]
    closed = all(trial.parameters["loop"] == "closed" for trial in trials)
    if closed and any(abs(ratio - 1) > _LITTLE_WITHIN for ratio in little):
        worst = max(little, key=lambda ratio: abs(ratio - 1))
        said.append(f"times do not fit the rate (Little's law: {worst:.3f})")
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


def _unsteady(trial: TrialRecord) -> str:
    from lanlab.workloads.stations.steady import least_readings

    if trial.metrics.get("steady_ratio") != 0:
        return ""
    sums = trial.result("client").get("station_sums") or {}
    steady = sums.get("steady") or {}
    if steady and steady["active_end_ns"] <= steady["active_start_ns"]:
        return "never all active"
    is_short = trial.metrics.get("readings", 0) < least_readings()
    return "too few readings" if is_short else "not steady"


def answer_sentence(trials: Sequence[TrialRecord], limit_s: float, of: str = "mean") -> str:
    """The number of stations up to which the response time stays within a limit, or that the limit
    was not reached.
    """
    from lanlab.analysis.stations.answer import stations_within

    what = "mean response time" if of == "mean" else f"response time ({of})"
    curves = _curves(trials, of)
    if not curves:
        return f"No trial has a {what}, so the number of stations is not known."
    found = stations_within(curves[0], limit_s)
    # Arithmetic means, rounded as in the table; the analysis uses logarithms.
    responses = {level.stations: sum(level.response_s) / level.trials for level in curves[0].levels}
    return _sentence(found, responses, what) + _doubt(found, responses, trials)


def _doubt(
    found: StationsWithin, responses: dict[int, float], trials: Sequence[TrialRecord]
) -> str:
    """That a number of stations which decides the answer had no steady state."""
    decisive = {found.last_within, found.first_beyond} - {None} or {max(responses)}
    unsteady = {
        int(trial.parameters["stations"]): words
        for trial in counting(trials)
        if trial.parameters["stations"] in decisive and (words := _unsteady(trial))
    }
    said = [f"with {counted(number, 'station')}, {words}" for number, words in unsteady.items()]
    return f" This is uncertain: {'; '.join(said)}." if said else ""


def is_answered(trials: Sequence[TrialRecord], of: str = "mean") -> bool:
    """Whether `answer_sentence` can compare a response time with the limit."""
    return bool(_curves(trials, of))


def _curves(trials: Sequence[TrialRecord], of: str) -> Sequence[StationCurve]:
    from lanlab.analysis.stations.levels import curves_of

    ids = sorted({trial.experiment for trial in trials})
    return curves_of(trials, ids, f"response_{of}_ns")


def _sentence(found: StationsWithin, responses: dict[int, float], what: str) -> str:
    limit = format_time(found.limit_s)
    most = max(responses)
    if found.basis == "measured" and found.stations:
        between = f"{counted(found.last_within or 0, 'station')}: "
        between += _time(responses, found.last_within)
        between += f"; {found.first_beyond}: {_time(responses, found.first_beyond)}"
        served = f"{counted(found.stations, 'station')}{_interval(found)}"
        exceeds = f"can be served before the {what} exceeds {limit}"
        return f"{served} {exceeds} ({between})."
    if found.basis in ("measured", "fewest"):
        fewest, time = counted(min(responses), "station"), _time(responses, min(responses))
        time = f"just above {limit}" if time == limit else time
        if min(responses) > 1:
            return f"{fewest}, the fewest tried, exceed a {what} of {limit}: it is {time}."
        return f"Not even {fewest} can be served within a {what} of {limit}: it is {time}."
    return (
        f"With {counted(most, 'station')}, the most tried, the {what} is "
        f"{_time(responses, most)}: {limit} was not reached. How many more stations can be served "
        "is not known."
    )


def _interval(found: StationsWithin) -> str:
    if found.low is None and found.high is None:
        return ""
    high = "more" if found.high is None else f"{found.high}"
    return f" (95 % interval: {found.low} to {high})"


def _time(responses: dict[int, float], number: int | None) -> str:
    return format_time(responses[number]) if number in responses else "no result"


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
    """A row for each host at each number of stations: means over the trials that count."""
    found: dict[tuple[int, int], list[HostShare]] = {}
    own = [t for t in trials if t.experiment == experiment]
    for trial in counting(own):
        for place, share in enumerate(host_shares(trial)):
            found.setdefault((int(trial.parameters["stations"]), place), []).append(share)
    rows = [_host_row(*key, found[key]) for key in sorted(found)]
    return Table(f"{experiment}-hosts", "By client host", _HOST_COLUMNS, tuple(rows))


def _host_row(stations: int, place: int, shares: Sequence[HostShare]) -> tuple[Cell, ...]:
    def mean(name: str) -> float:
        return math.fsum(getattr(share, name) for share in shares) / len(shares)

    error = max(share.clock_error_ns for share in shares)
    return (
        cell(stations),
        words(shares[0].host),
        cell(shares[0].stations),
        cell(len(shares)),
        cell(mean("operations_per_s"), _rate),
        cell(mean("operations_ratio"), percent),
        cell(mean("goodput_bps"), format_rate),
        cell(mean("response_mean_ns"), _time_of_ns),
        cell(max(share.start_skew_ns for share in shares), _time_of_ns),
        Cell(error, f"± {format_time(error / 1e9)}" if error else "" if place == 0 else "none"),
    )
