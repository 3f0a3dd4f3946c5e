"""Columns next to a stream's goodput on the terminal: loss and jitter, or TCP's retransmissions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import number
from lanlab.report.document.table import Cell, Column, Table
from lanlab.units import format_time


def with_arrival(data: RunData, table: Table, experiment: str) -> Table:
    """Add columns for loss and jitter, or for retransmissions, to a table of streams. Columns
    without content are not shown.
    """
    found = [{key: one.mean(key)[1] for key in _METRICS} for one in data.conditions(experiment)]
    columns, cells = list(table.columns), [list(row) for row in table.rows]
    for heading, rank, text in _COLUMNS:
        columns.append(Column("", short=heading, rank=rank))
        for means, row in zip(found, cells, strict=True):
            # Over TCP nothing counts as lost or unsent, because every lost segment is resent.
            is_known = means["reordered_messages"] is not None or heading in _OVER_TCP
            row.append(Cell(None, text(means) if is_known else ""))
    return replace(table, columns=tuple(columns), rows=tuple(map(tuple, cells)))


def share_text(share: float) -> str:
    """
    A share of messages. Zero is "none", and a small share is not rounded to zero.

    Examples:
        >>> share_text(0), share_text(0.00012345), share_text(0.125)
        ('0 %', '0.0123 %', '12.5 %')
    """
    return f"{number(100 * share, 3)} %" if share else "0 %"


def not_sent_text(means: Mapping[str, float | None]) -> str:
    offered, sent = means.get("offered_messages"), means.get("sent_messages")
    return share_text(1 - sent / offered) if offered and sent is not None else ""


def resent_text(means: Mapping[str, float | None]) -> str:
    sent, again = means.get("data_segments_sent"), means.get("retransmitted_segments")
    return share_text(again / sent) if sent and again is not None else ""


def _loss(means: Mapping[str, float | None]) -> str:
    loss = means["loss_ratio"]
    return "" if loss is None else share_text(loss)


def _jitter(means: Mapping[str, float | None]) -> str:
    mean_ns = means["delay_variation_mean_ns"]
    return "" if mean_ns is None else format_time(mean_ns / 1e9)


_OVER_TCP = ("jitter", "retransmitted")
_METRICS = (
    *("loss_ratio", "reordered_messages", "delay_variation_mean_ns", "offered_messages"),
    *("sent_messages", "data_segments_sent", "retransmitted_segments"),
)
_COLUMNS: Sequence[tuple[str, int, Callable[[Mapping[str, float | None]], str]]] = (
    ("loss", 1, _loss),
    ("jitter", 3, _jitter),
    ("not sent", 2, not_sent_text),
    ("retransmitted", 1, resent_text),
)
