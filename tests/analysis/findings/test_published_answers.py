"""What a publication answers when a statement asks it: ratios, levels, shares, and why not."""

import dataclasses
import math
from typing import Any

import pytest
from test_printed_evidence import value

from lanlab.analysis.findings.printed import ratio_of
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.findings.sample import PrintedNumber
from lanlab.studies.load import load_study
from lanlab.studies.published import Published, PublishedValue

FACTORS = [
    {
        "name": "os",
        "title": "System",
        "levels": [
            {"level": "xp", "title": "Windows XP"},
            {"level": "vista", "title": "Windows Vista"},
            {"level": "linux", "title": "Linux"},
        ],
    },
    {"name": "message_size_bytes", "title": "Size", "levels": [{"level": 500, "title": "500 B"}]},
]


def paper(*values: PublishedValue) -> PublishedEvidence:
    loaded = load_study("milanovic-srbljic")
    published = Published.model_validate({"schema": 1, "factor": FACTORS})
    published = published.model_copy(update={"value": values})
    return PublishedEvidence(dataclasses.replace(loaded, published=published))


def against(
    statistic: str, number: float, one: str = "xp", other: str = "linux", **more: Any
) -> PublishedValue:
    condition = {"numerator": one, "denominator": other, "message_size_bytes": 500}
    return value(
        "r", statistic=statistic, value=number, si=number, unit="", si_unit="ratio",
        condition=condition, **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("statistic", "number", "mean", "low", "high"),
    [
        ("ratio", 2.5, 2.5, 2.45, 2.55),
        ("gain", 0.25, 1.25, 1.245, 1.255),
        ("deficit", 0.25, 0.75, 0.745, 0.755),
    ],
)
def test_gains_are_ratios_from_one_up_and_deficits_from_one_down(
    statistic: str, number: float, mean: float, low: float, high: float
) -> None:
    evidence = paper(against(statistic, number))
    [found] = evidence.ratios("goodput_bps")

    seen = (found.ratio.mean, found.ratio.low, found.ratio.high)
    assert seen == pytest.approx((mean, low, high))
    assert (found.factor, found.numerators, found.denominators) == ("os", ("xp",), ("linux",))
    assert (found.levels, found.ratio.sources) == ({"message_size_bytes": 500}, {"r"})
    assert evidence.ratios("rtt_mean_ns") == []


def test_an_upper_bound_of_a_deficit_is_a_lower_bound_of_the_ratio() -> None:
    """At least 25 % slower is at most 0.75 times as fast."""
    [found] = paper(against("deficit", 0.25, bound=">=")).ratios("goodput_bps")
    assert (found.ratio.low, found.ratio.high) == (-math.inf, 0.75)
    [found] = paper(against("gain", 0.25, bound=">=")).ratios("goodput_bps")
    assert (found.ratio.low, found.ratio.high) == (1.25, math.inf)


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("xp", ("xp",)),
        ("XP", ("xp",)),
        ("windows xp", ("xp",)),
        ("Windows", ("xp", "vista")),
        ("Windows V", ("vista",)),
    ],
)
def test_levels_are_named_by_themselves_their_titles_or_the_beginning_of_these(
    name: str, levels: tuple[str, ...]
) -> None:
    [found] = paper(against("ratio", 2.5, name)).ratios("goodput_bps")
    assert found.numerators == levels


def test_a_statement_that_compares_no_two_levels_has_no_ratio() -> None:
    published = paper().loaded.published
    for none in (
        against("ratio", 2.5, "beos"),
        against("ratio", 2.5, other="beos"),
        against("deficit", 1.0),
        against("mean", 2.5),
        value("r", statistic="ratio", value=2.5, si=2.5),
    ):
        assert ratio_of(none, published) is None


def test_a_printed_ratio_is_found_from_either_side_if_all_else_is_equal() -> None:
    evidence = paper(against("ratio", 4.0))
    xp, linux = ({"os": os, "message_size_bytes": 500} for os in ("xp", "linux"))
    there, back = (evidence.ratio("goodput_bps", *two) for two in ((xp, linux), (linux, xp)))

    assert there is not None and back is not None
    assert (there.mean, back.mean) == (4.0, 0.25)
    other = {"message_size_bytes": 2}
    for a, b in (
        (xp, xp),
        (xp | other, linux | other),
        (xp, linux | other),
        (xp, {"os": "vista", "message_size_bytes": 500}),
        ({"os": "xp"}, {"os": "linux"}),
        ({"os": "xp"}, linux),
        (xp, {"os": "linux"}),
    ):
        assert evidence.ratio("goodput_bps", a, b) is None
    assert evidence.ratio("rtt_mean_ns", xp, linux) is None


def test_an_unpublished_number_follows_from_a_ratio_and_a_number() -> None:
    """Of 10 Mbit/s that are 4 times the others: 2.5, and what the digits of both leave open."""
    at_xp = {"os": "xp", "message_size_bytes": 500}
    cells = paper(value("m", condition=at_xp), against("ratio", 4.0)).cells("goodput_bps")
    by_system = {cell.levels["os"]: cell for cell in cells}

    assert set(by_system) == {"xp", "linux"}
    sample = by_system["linux"].sample
    assert isinstance(sample, PrintedNumber)
    assert (sample.mean, sample.low, sample.high) == pytest.approx(
        (2.5e6, 9.95e6 / 4.05, 10.05e6 / 3.95)
    )
    assert by_system["linux"].is_derived and not by_system["xp"].is_derived
    assert sample.sources == {"m", "r"}
    assert by_system["linux"].varied == ("os", "message_size_bytes")


def test_published_evidence_lists_its_factors_and_its_gaps() -> None:
    evidence = paper(value("m", condition={"os": "xp"}), against("ratio", 4.0))

    assert evidence.levels("os") == ("xp", "vista", "linux")
    assert evidence.levels("host") == ()
    assert evidence.why_not("rtt_mean_ns", {}) == "no rtt_mean_ns is published"
    assert (
        evidence.why_not("rtt_mean_ns", {"os": ("xp",)}) == "no rtt_mean_ns is published at os xp"
    )
    assert evidence.speaks("goodput_bps", {"os": ("xp",)}, ("os",))
    assert not evidence.speaks("goodput_bps", {"os": ("vista",)}, ("os",))
    assert not evidence.speaks("goodput_bps", {}, ("host",))
    assert not evidence.speaks("rtt_mean_ns", {"os": ("xp",)}, ("os",))
    # What a number does not name, it does not contradict.
    assert evidence.speaks("goodput_bps", {"os": ("xp",), "host": ("a",)}, ("os",))
    # It has to name every factor that is gone through; with none, any number speaks.
    assert not evidence.speaks("goodput_bps", {"os": ("xp",)}, ("os", "host"))
    assert evidence.speaks("goodput_bps", {}, ())
    spread = paper(value("s", statistic="sd", condition={"os": "xp"}))
    assert not spread.speaks("goodput_bps", {"os": ("xp",)}, ("os",))


def test_published_range_ends_are_the_minimum_and_maximum() -> None:
    evidence = paper(
        value("a", statistic="minimum", value=1.0),
        value("b", statistic="maximum", value=9.0),
        value("c", statistic="maximum", value=9.0, metric="offered_bps"),
    )
    found = [(cell.stands, cell.sample.mean) for cell in evidence.ends("goodput_bps")]
    assert found == [("least", 1e6), ("greatest", 9e6)]
    assert {cell.stands for cell in evidence.cells("goodput_bps")} == {"least", "greatest"}


def test_a_rate_is_a_share_of_the_link_capacity_for_its_message_size() -> None:
    """500 of 566 bytes on the wire of 10 Mbit/s over UDP and IPv4, 500 of 586 over IPv6."""
    at = {"message_size_bytes": 500, "transport": "udp"}
    for more, wire in (({}, 566), ({"ip_version": 6}, 586)):
        [cell] = paper(value("m", condition={**at, **more})).shares("goodput_bps")
        assert cell.sample.mean == pytest.approx(wire / 500)
    assert paper(value("m", condition={"message_size_bytes": 500})).shares("goodput_bps") == ()


def test_levels_use_the_units_of_the_workload_everywhere() -> None:
    """500 kB/s are 4 Mbit/s: of a number, of a ratio, and of what a statement asks for."""
    rate = {"rate_bps": "500kB/s"}
    ratio = against("ratio", 4.0)
    ratio = ratio.model_copy(update={"condition": {**ratio.condition, **rate}})
    evidence = paper(
        value("m", condition={"os": "xp", "message_size_bytes": 500, **rate}),
        value("e", statistic="maximum", condition={"os": "vista", **rate}),
        ratio,
    )
    [found] = evidence.ratios("goodput_bps")
    assert found.levels == {"message_size_bytes": 500, "rate_bps": 4_000_000}
    cells = evidence.cells("goodput_bps")
    assert {cell.levels["rate_bps"] for cell in cells} == {4_000_000}
    assert sorted(str(cell.levels["os"]) for cell in cells) == ["linux", "vista", "xp"]
    assert evidence.plain("rate_bps", "500kB/s") == 4_000_000
    assert evidence.speaks("goodput_bps", {"rate_bps": (4_000_000,)}, ("rate_bps",))


def test_a_share_gives_a_rate_if_none_is_published_and_the_link_is_known() -> None:
    share = {"statistic": "share_of_link", "value": 0.5, "si": 0.5, "unit": "", "si_unit": "ratio"}
    at = {"message_size_bytes": 500, "transport": "udp"}
    other = {"message_size_bytes": 2, "transport": "udp"}
    evidence = paper(
        value("m", condition=at), value("n", condition=other), value("s", condition=at, **share)
    )
    cells = evidence.cells("goodput_bps")
    assert [cell.levels for cell in cells] == [at, other]
    assert {cell.group for cell in cells} == {"published"}
    # Of the one size the share that is printed, of the other that which follows from its rate.
    shares = evidence.shares("goodput_bps")
    assert [(cell.levels, cell.group) for cell in shares] == [
        (at, "published"),
        (other, "published"),
    ]
    assert shares[0].sample.mean == 0.5
    unknown = paper(value("s", condition={"message_size_bytes": 500}, **share))
    assert unknown.cells("goodput_bps") == ()
    assert [cell.sample.mean for cell in unknown.shares("goodput_bps")] == [0.5]


def test_mistakes_and_numbers_of_others_are_not_evidence() -> None:
    at = {"os": "xp"}
    for not_own in ({"status": "wrong"}, {"kind": "related"}):
        evidence = paper(
            value("m", condition=at, **not_own),
            value("e", statistic="maximum", condition=at, **not_own),
        )
        assert evidence.cells("goodput_bps") == ()
        assert not evidence.speaks("goodput_bps", {"os": ("xp",)}, ("os",))
    # What follows one that is left out is still looked at.
    evidence = paper(value("w", condition=at, status="wrong"), value("m", condition=at))
    assert [cell.sample.mean for cell in evidence.cells("goodput_bps")] == [10e6]
