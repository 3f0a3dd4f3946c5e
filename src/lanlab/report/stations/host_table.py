"""The share of each client host, if stations were spread over several, as a table and CSV."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lanlab.analysis.attempts import counting
from lanlab.analysis.station_hosts import HostShare, host_shares
from lanlab.figures.number_text import percent
from lanlab.report.document.table import Cell, Column, Table, words
from lanlab.store import TrialRecord
from lanlab.units import format_rate, format_time

_COLUMNS = (
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
    for trial in counting([trial for trial in trials if trial.experiment == experiment]):
        for place, share in enumerate(host_shares(trial)):
            found.setdefault((int(trial.parameters["stations"]), place), []).append(share)
    rows = [_row(*key, found[key]) for key in sorted(found)]
    return Table(f"{experiment}-hosts", "By client host", _COLUMNS, tuple(rows))


def _row(stations: int, place: int, shares: Sequence[HostShare]) -> tuple[Cell, ...]:
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
