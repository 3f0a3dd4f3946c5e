"""What became of the messages that a sender was asked for, as shares and in words."""

from dataclasses import replace

import pytest
from planned_runs import planned_run

from lanlab.analysis.loss_places import (
    PLACES,
    SHARES,
    not_received,
    place_words,
    shares,
    unseen_places,
    with_shares,
)

COUNTED = {
    "offered_messages": 200,
    "received_messages": 100,
    **{place: 10 + at for at, place in enumerate(PLACES)},
}


def test_losses_are_shares_of_the_requested_messages() -> None:
    found = shares(COUNTED)
    assert found == {
        "received": 0.5,
        **{place: pytest.approx((10 + at) / 200) for at, place in enumerate(PLACES)},
    }
    assert shares({**COUNTED, "offered_messages": 0}) is None
    assert shares({**COUNTED, "offered_messages": 1}) is not None
    assert shares({"received_messages": 1}) is None
    assert shares({"received_messages": 1, "lost_link_messages": 0}) is None
    over_tcp = {key: count for key, count in COUNTED.items() if key != "lost_link_messages"}
    assert shares(over_tcp) is None
    partly = {key: count for key, count in COUNTED.items() if key != "lost_late_messages"}
    known = shares(partly)
    assert known is not None
    assert known["lost_late_messages"] == 0


def test_only_places_with_losses_are_named() -> None:
    counted = {**COUNTED, "unsent_messages": 0, "lost_late_messages": 1}
    found = not_received(counted)
    assert found == {place: counted[place] for place in PLACES if place not in ("unsent_messages",)}
    assert not_received({}) == {}


def test_shares_are_added_to_the_other_results() -> None:
    trial = replace(planned_run("milanovic-srbljic").of("udp-500")[0], metrics=COUNTED)
    silent = replace(trial, metrics={"goodput_bps": 1.0})
    first, second = with_shares([trial, silent])
    assert first.metrics["received_share_ratio"] == 0.5
    assert first.metrics["skipped_share_ratio"] == pytest.approx(0.05)
    assert first.metrics["lost_late_share_ratio"] == pytest.approx((10 + len(PLACES) - 1) / 200)
    assert first.metrics.keys() == COUNTED.keys() | set(SHARES.values())
    assert second.metrics == {"goodput_bps": 1.0}


def test_the_link_is_blamed_only_if_every_other_place_counts_losses() -> None:
    trial = replace(planned_run("milanovic-srbljic").of("udp-500")[0], metrics=COUNTED)
    blind = {key: count for key, count in COUNTED.items() if key != "lost_backlog_messages"}
    assert place_words([trial])["lost_link_messages"] == "lost on the link"
    words = place_words([trial, replace(trial, metrics=blind)])
    assert words["lost_link_messages"] == (
        "lost on the link, or dropped in the receiving host's backlog"
    )
    assert words["received"] == "received"
    assert unseen_places({"goodput_bps": 1}) == []
