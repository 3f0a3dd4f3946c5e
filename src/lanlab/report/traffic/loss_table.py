"""What happened to the requested messages, at each condition of an experiment."""

from __future__ import annotations

import math

from lanlab.analysis.traffic.loss_places import PLACES, RECEIVED, SHARES, place_words
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.gather import called
from lanlab.figures.number_text import number, percent
from lanlab.figures.wording import obtained, quantity
from lanlab.report.document.table import Cell, Column, Table, cell

_SHORT = {
    RECEIVED: "received",
    "skipped_messages": "left out",
    "unsent_messages": "not in time",
    "refused_messages": "refused",
    "lost_sender_queue_messages": "sender's queue",
    "lost_adapter_queue_messages": "adapter's queue",
    "lost_chance_messages": "chance",
    "lost_collisions_messages": "collisions",
    "lost_switch_queue_messages": "switch's queue",
    "lost_link_messages": "link",
    "lost_backlog_messages": "backlog",
    "lost_socket_buffer_messages": "socket buffer",
    "lost_late_messages": "late",
}


def loss_table(data: RunData, experiment: str) -> Table:
    """
    Shares of the requested messages: received, and lost at each place.

    Returns:
        Means over the trials of each condition; a row adds up to 1. No rows if no trial has losses
            to report, as over TCP.
    """
    words = place_words([trial for trial in data.trials if trial.experiment == experiment])
    conditions = data.conditions(experiment)
    offered = [one.mean("offered_messages") for one in conditions]
    shares = {place: [one.mean(metric) for one in conditions] for place, metric in SHARES.items()}
    kept = [
        place for place, own in shares.items() if place == RECEIVED or any(mean for _, mean in own)
    ]
    factors = list(conditions[0].factors) if conditions else []
    columns = (
        *(Column(factor, quantity(data.study, factor).name) for factor in factors),
        Column("", "", "condition", is_number=False),
        Column("n", "n"),
        Column("offered (messages)", "offered"),
        *(
            Column(f"{words[place]} (ratio)", words[place], _short(place, words[place]))
            for place in _SHORT
            if place in kept
        ),
    )
    rows = tuple(
        (
            *(
                Cell(level, called(data.study, data.published, {factor: level}))
                for factor, level in condition.factors.items()
            ),
            Cell(
                None,
                called(data.study, data.published, condition.factors) or obtained(data.study),
            ),
            cell(offered[number_][0]),
            cell(offered[number_][1], _count),
            *(cell(shares[place][number_][1], _share) for place in _SHORT if place in kept),
        )
        for number_, condition in enumerate(conditions)
        if shares[RECEIVED][number_][0]
    )
    return Table(f"{experiment}-losses", "Where messages were lost", columns, rows)


def _short(place: str, words: str) -> str:
    """A shorter word for narrow tables."""
    return _SHORT[place] if words == PLACES.get(place, RECEIVED) else "unexplained"


def _count(mean: float) -> str:
    return number(mean, 1 + max(3, int(math.log10(mean or 1))))


def _share(mean: float) -> str:
    return percent(mean) if mean else "0"
