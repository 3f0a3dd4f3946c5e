"""What a trial says of the network, and what of its sender."""

import math

import pytest

from lanlab.plan.search_reading import SearchReading, search_reading


def goodput(value: float, **counts: float) -> SearchReading | None:
    """What it says of loss and sender; messages are counted in tests of their own."""
    found = search_reading(
        {"goodput_ratio": value, "offered_messages": 10_000, **counts}, "goodput_ratio"
    )
    return found and SearchReading(*found[:2])


def received(value: float, **counts: float) -> SearchReading | None:
    found = search_reading(
        {"received_ratio": value, "offered_messages": 10_000, **counts}, "received_ratio"
    )
    return found and SearchReading(*found[:2])


def test_missing_messages_are_lost() -> None:
    assert received(0.9) == SearchReading(pytest.approx(0.1), 1.0)
    assert received(0.9999) == SearchReading(pytest.approx(0.0001), 1.0)
    assert received(1.0) == SearchReading(0.0, 1.0)


@pytest.mark.parametrize(("missing", "is_loss"), [(0, False), (2, False), (3, True)])
def test_a_message_at_either_end_of_a_window_is_not_a_loss(missing: int, is_loss: bool) -> None:
    found = goodput(1 - missing / 10_000)

    assert found is not None and (found.loss_ratio > 0) == is_loss


def test_a_window_may_miss_one_batch_at_either_end() -> None:
    assert goodput(1 - 64 / 10_000, burst_messages=32) == SearchReading(0.0, 1.0)
    found = goodput(1 - 65 / 10_000, burst_messages=32)
    assert found is not None and found.loss_ratio == pytest.approx(0.0065)


@pytest.mark.parametrize(("missing", "is_loss"), [(40, False), (41, True)])
def test_a_window_may_miss_a_millisecond_of_messages_at_either_end(
    missing: int, is_loss: bool
) -> None:
    """10,000 messages of 500 bytes in half a second: 20 in a millisecond."""
    found = goodput(1 - missing / 10_000, offered_bytes=5_000_000, offered_bps=80e6)

    assert found is not None and (found.loss_ratio > 0) == is_loss


def test_numbered_messages_allow_no_edge_tolerance() -> None:
    found = received(1 - 1 / 10_000, burst_messages=64)

    assert found is not None and found.loss_ratio == pytest.approx(0.0001)


def test_messages_gained_from_a_queue_are_not_losses() -> None:
    assert goodput(1.02) == SearchReading(0.0, 1.0)


def test_losses_of_a_slow_sender_are_relative_to_its_offer() -> None:
    assert received(0.6, unsent_messages=4000) == SearchReading(0.0, 0.6)
    assert received(0.6, skipped_messages=3000, unsent_messages=1000) == SearchReading(0.0, 0.6)
    assert goodput(0.6, unsent_messages=4000) == SearchReading(0.0, 0.6)


def test_losses_of_a_slow_sender_count() -> None:
    assert received(0.3, unsent_messages=4000) == SearchReading(
        pytest.approx(0.5), pytest.approx(0.6)
    )


def test_a_sender_blocked_by_its_link_is_not_the_limit() -> None:
    found = received(0.5, unsent_messages=5000, blocked_ratio=0.5)

    assert found == SearchReading(pytest.approx(0.5), 1.0)


def test_waiting_explains_only_its_share_of_a_shortfall() -> None:
    """In the half of the time that it did not wait it managed 30 %: it could offer 60 %."""
    found = received(0.3, unsent_messages=7000, blocked_ratio=0.5)

    assert found == SearchReading(pytest.approx(0.5), pytest.approx(0.6))


def test_a_sender_that_always_waited_is_not_the_limit() -> None:
    assert received(0.1, unsent_messages=9000, blocked_ratio=1.0) == SearchReading(
        pytest.approx(0.9), 1.0
    )


def test_messages_that_the_senders_system_refused_are_lost() -> None:
    assert received(0.8, refused_messages=2000) == SearchReading(pytest.approx(0.2), 1.0)


def test_a_sender_that_sent_nothing_gives_no_reading() -> None:
    assert received(0.0, unsent_messages=10_000) is None


@pytest.mark.parametrize("metrics", [{}, {"goodput_ratio": math.nan}, {"received_ratio": 1.0}])
def test_a_trial_without_the_metric_gives_no_reading(metrics: dict[str, float]) -> None:
    assert search_reading(metrics, "goodput_ratio") is None


def test_a_ratio_can_be_judged_without_counts() -> None:
    assert search_reading({"goodput_ratio": 0.9}, "goodput_ratio") == SearchReading(
        pytest.approx(0.1), 1.0
    )
    assert search_reading({"goodput_ratio": 1.0}, "goodput_ratio") == SearchReading(0.0, 1.0)


def test_known_losses_count_despite_the_edge_tolerance() -> None:
    """One of 10,000 is within the edges of a window; refused ones were lost as well."""
    counts = {"offered_messages": 10_000, "lost_messages": 1, "refused_messages": 2}
    found = search_reading({"goodput_ratio": 0.9999, **counts}, "goodput_ratio")

    assert found == SearchReading(0.0, 1.0, messages=10_000, lost_messages=3)
