"""From the trials of `peers.py` to Markdown: medians, ratios paired by block, intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from peer_cells import CELLS, Cell, Kind

#: Site, IP version, cell.
Place = tuple[str, int, str]


@dataclass(frozen=True)
class Measured:
    """One trial that ended well."""

    block: int
    site: str
    ip_version: int
    cell: str
    label: str
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Column:
    """A figure of a table."""

    key: str
    heading: str
    scale: float
    #: Whether more is better; `None`: it is shown, not judged.
    more_is_better: bool | None


COLUMNS: Mapping[Kind, tuple[Column, ...]] = {
    "messages": (
        Column("messages_per_s", "received, 1000 datagrams/s", 1e-3, True),
        Column("cpu_ns_per_message", "CPU of both ends, µs/datagram", 1e-3, False),
        Column("loss_ratio", "loss, %", 1e2, None),
    ),
    "bulk": (
        Column("goodput_bps", "goodput, Mbit/s", 1e-6, True),
        Column("cpu_s_per_gb", "CPU of both ends, s/GB", 1, False),
    ),
    "round-trip": (
        Column("rtt_p50_ns", "p50, µs", 1e-3, False),
        Column("rtt_p99_ns", "p99, µs", 1e-3, False),
        Column("rtt_mean_ns", "mean, µs", 1e-3, None),
    ),
    "pacing": (
        Column("gap_p1_ns", "gap p1, µs", 1e-3, True),
        Column("gap_p50_ns", "gap p50, µs", 1e-3, None),
        Column("gap_p99_ns", "gap p99, µs", 1e-3, False),
        Column("back_to_back_ratio", "back to back, %", 1e2, None),
        Column("sender_cpu_ratio", "sender's CPU, s/s", 1, False),
    ),
    "queue": (Column("queue_loss_ratio", "dropped by the queue, %", 1e2, False),),
}


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """
    An interval of at least 95 % for a median, from order statistics: no distribution is assumed.

    `None` for fewer than six values, which cannot give one.

    Examples:
        >>> median_interval([5, 1, 4, 2, 3, 7, 6])
        (1, 7)
        >>> median_interval(range(10))
        (1, 8)
        >>> median_interval([1, 2, 3, 4, 5]) is None
        True
    """
    ordered, n = sorted(values), len(values)
    outside, rank = 0.0, 0
    while True:
        # Both tails, each below the rank-th value: binomial with one half.
        outside += 2 * math.comb(n, rank) / 2**n
        if outside > 0.05:
            break
        rank += 1
    return None if rank == 0 else (ordered[rank - 1], ordered[n - rank])


def tables(trials: Sequence[Measured]) -> Iterator[str]:
    """Lines of Markdown: for each site and IP version the ratios, then all medians."""
    places: dict[tuple[str, int], list[Measured]] = {}
    for trial in trials:
        places.setdefault((trial.site, trial.ip_version), []).append(trial)
    for (site, ip_version), here in sorted(places.items(), key=lambda item: item[0][::-1]):
        yield f"\n## {site}, IPv{ip_version}\n"
        yield from _ratios(here)
        for cell in CELLS.values():
            of_cell = [trial for trial in here if trial.cell == cell.name]
            if of_cell:
                yield f"\n### {cell.title}\n"
                yield from _medians(cell, of_cell)


def _by_label(trials: Sequence[Measured], key: str) -> dict[str, dict[int, float]]:
    """Contender, then block, to the figure."""
    found: dict[str, dict[int, float]] = {}
    for trial in trials:
        value = trial.metrics.get(key)
        if value is not None:
            found.setdefault(trial.label, {})[trial.block] = value
    return found


def _is_own(label: str) -> bool:
    return label.startswith("lanlab ")


def _ratios(trials: Sequence[Measured]) -> Iterator[str]:
    yield "lanlab to the best peer: the median of the blocks' ratios, with its interval.\n"
    yield "Paced cells are compared with nuttcp, which keeps the schedule with a whole processor.\n"
    yield "| cell | figure | lanlab | peer | ratio | |\n|---|---|---|---|---|---|"
    for cell in CELLS.values():
        of_cell = [trial for trial in trials if trial.cell == cell.name]
        for column in COLUMNS[cell.kind]:
            if column.more_is_better is not None and of_cell:
                yield from _ratio_rows(cell, column, _by_label(of_cell, column.key))


def _ratio_rows(
    cell: Cell, column: Column, figures: Mapping[str, Mapping[int, float]]
) -> Iterator[str]:
    peers = {label: values for label, values in figures.items() if not _is_own(label)}
    name = f"{cell.name} | {column.heading.partition(',')[0]}"
    if not peers:
        yield f"| {name} | | no peer | | |"
        return
    best_of = max if column.more_is_better else min
    best = best_of(peers, key=lambda label: median(list(peers[label].values())))
    if cell.reference in peers:
        best = cell.reference
    for label, own in figures.items():
        if not _is_own(label):
            continue
        ratios = [own[b] / peers[best][b] for b in own if peers[best].get(b)]
        shown = _shown(ratios, 1) if ratios else "-"
        tie = _tie(list(own.values()), list(peers[best].values()))
        yield f"| {name} | {label.removeprefix('lanlab ')} | {best} | {shown} | {tie} |"


def _tie(own: Sequence[float], theirs: Sequence[float]) -> str:
    """`tie` where the two medians' intervals overlap; nothing is said without intervals."""
    first, second = median_interval(own), median_interval(theirs)
    if first is None or second is None:
        return "too few runs"
    return "tie" if first[0] <= second[1] and second[0] <= first[1] else ""


def _medians(cell: Cell, trials: Sequence[Measured]) -> Iterator[str]:
    columns = COLUMNS[cell.kind]
    yield "| who | runs | " + " | ".join(column.heading for column in columns) + " |"
    yield "|---|---|" + "---|" * len(columns)
    tables = [_by_label(trials, column.key) for column in columns]
    labels = list(dict.fromkeys(trial.label for trial in trials))
    first = columns[0]

    def rank(label: str) -> float:
        values = list(tables[0].get(label, {}).values())
        middle = median(values) if values else math.inf
        return -middle if first.more_is_better and values else middle

    for label in sorted(labels, key=rank):
        runs = sum(trial.label == label for trial in trials)
        cells = [
            _shown(list(table[label].values()), column.scale) if label in table else "-"
            for column, table in zip(columns, tables, strict=True)
        ]
        yield f"| {label} | {runs} | " + " | ".join(cells) + " |"


def _shown(values: Sequence[float], scale: float) -> str:
    """`median (low … high)`; of too few values without an interval."""
    interval = median_interval(values)
    middle = f"{scale * median(values):.4g}"
    if interval is None:
        return middle
    return f"{middle} ({scale * interval[0]:.4g} … {scale * interval[1]:.4g})"
