"""What became of the messages that a sender was asked for, as shares and in words."""

import pytest

from lanlab.analysis.traffic.loss_places import (
    PLACES,
    SHARES,
    not_received,
    shares_of,
)

COUNTED = {
    "offered_messages": 200,
    "received_messages": 100,
    **{place: 10 + at for at, place in enumerate(PLACES)},
}


def shares(metrics: dict[str, int]) -> dict[str, float | None]:
    return {place: shares_of([metrics], metric)[0] for place, metric in SHARES.items()}


def test_losses_are_shares_of_the_requested_messages() -> None:
    found = shares(COUNTED)
    assert found == {
        "received": 0.5,
        **{place: pytest.approx((10 + at) / 200) for at, place in enumerate(PLACES)},
    }
    assert set(shares({**COUNTED, "offered_messages": 0}).values()) == {None}
    assert None not in shares({**COUNTED, "offered_messages": 1}).values()
    assert set(shares({"received_messages": 1}).values()) == {None}
    assert set(shares({"received_messages": 1, "lost_link_messages": 0}).values()) == {None}
    over_tcp = {key: count for key, count in COUNTED.items() if key != "lost_link_messages"}
    assert set(shares(over_tcp).values()) == {None}
    partly = {key: count for key, count in COUNTED.items() if key != "lost_late_messages"}
    assert shares(partly)["lost_late_messages"] == 0


def test_only_places_with_losses_are_named() -> None:
    counted = {**COUNTED, "unsent_messages": 0, "lost_late_messages": 1}
    found = not_received(counted)
    assert found == {place: counted[place] for place in PLACES if place not in ("unsent_messages",)}
    assert not_received({}) == {}


def test_a_trial_without_shares_has_none_beside_others() -> None:
    silent = {"goodput_bps": 1.0}
    assert shares_of([COUNTED, silent], "skipped_share_ratio") == [pytest.approx(0.05), None]
    with pytest.raises(TypeError):
        shares_of([{"offered_messages": 1, "lost_link_messages": 0}], SHARES["received"])
