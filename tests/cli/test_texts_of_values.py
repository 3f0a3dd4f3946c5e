"""Short texts and keys that commands and tables make of values."""

from lanlab.cli.running.watch import live_text
from lanlab.cli.serving.stack import stack_words
from lanlab.figures.finishing import distinct
from lanlab.figures.wording import quantity, values_text
from lanlab.report.answer.question_forms import _range
from lanlab.report.comparison.compared import _key


def test_an_interval_has_rate_losses_and_delay_variation() -> None:
    text = live_text(
        "stream",
        {
            "start_s": 0.0,
            "end_s": 1.0,
            "rate_bps": 9.57e6,
            "messages": 831,
            "expected_messages": 840,
            "lost_messages": 9,
            "delay_variation_ns": 34_000,
        },
    )
    assert text == ("    0.00-1.00 s  9.57 Mbit/s, lost 9 of 840 (1.07 %), delay varies by 34.0 µs")


def test_a_small_stack_has_its_memory_and_frames() -> None:
    facts = {"held_bytes": 81_234, "memory_bytes": 2_000_000, "sent_frames": 70}
    text = stack_words({**facts, "received_frames": 65, "dropped_frames": 0})  # type: ignore[typeddict-item]
    assert text == "at most 81,234 of 2,000,000 B held; 70 frames sent, 65 received"


def test_a_range_has_a_common_unit_once() -> None:
    ranges = [["1.71 kB/s", "12.5 kB/s"], ["1 kB/s"], ["1 kB/s", "its limit"]]
    assert [*map(_range, ranges)] == ["1.71 to 12.5 kB/s", "1 kB/s", "1 kB/s to its limit"]


def test_keys_of_columns_have_no_blanks_and_signs() -> None:
    names = ("other mean 95 % low", "p, Holm", "Hedges g")
    assert [*map(_key, names)] == ["other_mean_95_low", "p_holm", "hedges_g"]


def test_names_lose_their_common_parts() -> None:
    assert distinct(["IPv4, 64 B", "IPv6, 64 B"]) == ("IPv4", "IPv6")
    assert distinct(["IPv4, 64 B"]) == ("IPv4, 64 B",)


def test_values_too_few_for_an_interval_are_listed() -> None:
    assert values_text(quantity(None, "goodput_bps"), [1e6, 1.25e6]) == "1.000; 1.250"
