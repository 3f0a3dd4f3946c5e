"""What happened to the requested messages, stacked, against the sending rate."""

from __future__ import annotations

from lanlab.analysis.loss_places import RECEIVED, SHARES, place_words, with_shares
from lanlab.analysis.summary import summarise
from lanlab.figures.chart import Axis, Chart, Series
from lanlab.figures.gather import FigureData, axis, points_of
from lanlab.figures.received_against_sent import RATES, asked_rate_bps
from lanlab.figures.wording import Quantity, quantity

#: The renderer's colour and pattern for each place, the same in every figure.
_STYLES = {
    RECEIVED: 5,
    "skipped_messages": 7,
    "unsent_messages": 8,
    "refused_messages": 4,
    "lost_sender_queue_messages": 1,
    "lost_adapter_queue_messages": 9,
    "lost_chance_messages": 10,
    "lost_collisions_messages": 11,
    "lost_switch_queue_messages": 12,
    "lost_link_messages": 3,
    "lost_backlog_messages": 2,
    "lost_socket_buffer_messages": 6,
    "lost_late_messages": 0,
}
_SAID = "Of the messages asked for, the share received and where the others ended; they add up."


def losses_against_sent(data: FigureData) -> Chart:
    """Shares of the requested messages: received at the bottom, and each place of loss above it.

    The x axis is the requested rate. If more than the rate varies, each condition is a row. Places
    without losses are omitted.
    """
    counted = with_shares(data.trials)
    words = place_words(
        [trial for trial in data.trials if trial.experiment in data.figure.experiments]
    )
    shares = {
        place: [
            s
            for name in data.figure.experiments
            for s in summarise(data.run, counted, name, metric)
        ]
        for place, metric in SHARES.items()
    }
    found = shares[RECEIVED]
    by_rate = all(set(s.factors) <= set(RATES) for s in found) and len(data.figure.experiments) == 1
    rates = [asked_rate_bps(summary) for summary in found]
    x = axis(data.study, "rate_bps")
    if not by_rate or None in rates:
        by_rate = False
        names = tuple(data.called(s.factors) or s.experiment for s in found)
        x = Axis("condition", "", categories=names)
    shown = quantity(data.study, "rate_bps")
    places = [
        shown.shown(rate) if by_rate and rate is not None else float(number)
        for number, rate in enumerate(rates)
    ]
    at = {id(s): x for own in shares.values() for s, x in zip(own, places, strict=True)}
    share = Quantity("", "", "%", 0.01, "ratio")
    return data.chart(
        x,
        Axis("share of messages", "%"),
        [
            Series(
                words[place],
                points_of(own, lambda s: at[id(s)], share, data.study),
                "stack",
                _STYLES[place],
            )
            for place, own in shares.items()
            if place == RECEIVED or any(summary.mean for summary in own)
        ],
        _SAID,
        drawn="Means of the trials.",
        # Use rows, because the names of conditions do not fit side by side.
        sideways=not by_rate,
    )
