"""Columns next to a stream's goodput on the terminal: loss and jitter, or TCP's retransmissions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.run_data import RunData
from lanlab.figures.number_text import number
from lanlab.report.document.table import Cell, Column, Table
from lanlab.units import format_time

_Means = Mapping[str, float | None]


def with_arrival(data: RunData, table: Table, experiment: str) -> Table:
    """
    Add columns for loss and jitter, or for retransmissions, to a table of streams. Columns without
    content are not shown.

    Args:
        table: A row for each condition, in the order of `summarise`.
    """
    found = [{key: one.mean(key)[1] for key in _METRICS} for one in data.conditions(experiment)]
    columns, cells = list(table.columns), [list(row) for row in table.rows]
    for heading, rank, text in _COLUMNS:
        columns.append(Column("", short=heading, rank=rank))
        for means, row in zip(found, cells, strict=True):
            row.append(Cell(None, text(means)))
    return replace(table, columns=tuple(columns), rows=tuple(map(tuple, cells)))


def share_text(share: float) -> str:
    """A share of messages. Zero is "none", and a small share is not rounded to zero.

    Examples:
        >>> share_text(0), share_text(0.00012345), share_text(0.125)
        ('0 %', '0.0123 %', '12.5 %')
    """
    return f"{number(100 * share, 3)} %" if share else "0 %"


def _loss(means: _Means) -> str:
    # Over TCP nothing counts as lost, because every lost segment is resent.
    loss = means["loss_ratio"] if means["reordered_messages"] is not None else None
    return "" if loss is None else share_text(loss)


def _jitter(means: _Means) -> str:
    mean_ns = means["delay_variation_mean_ns"]
    return "" if mean_ns is None else format_time(mean_ns / 1e9)


def _not_sent(means: _Means) -> str:
    offered, sent = means["offered_messages"], means["sent_messages"]
    if not offered or sent is None or means["reordered_messages"] is None:
        return ""
    return share_text(1 - sent / offered)


def _sent_again(means: _Means) -> str:
    sent, again = means["data_segments_sent"], means["retransmitted_segments"]
    return share_text(again / sent) if sent and again is not None else ""


_METRICS = (
    *("loss_ratio", "reordered_messages", "delay_variation_mean_ns", "offered_messages"),
    *("sent_messages", "data_segments_sent", "retransmitted_segments"),
)
_COLUMNS: Sequence[tuple[str, int, Callable[[_Means], str]]] = (
    ("loss", 1, _loss),
    ("jitter", 3, _jitter),
    ("not sent", 2, _not_sent),
    ("retransmitted", 1, _sent_again),
)
