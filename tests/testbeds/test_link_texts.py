"""What a link is follows from its text; a text that means no link is refused with what to do."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanlab.errors import UsageError
from lanlab.testbeds.link import LinkRequest, parse_link

#: Pieces of links and near misses.
WORDS = (
    *("10M", "100M", "1G", "2M", "unshaped", "1e+7", "0", "-1M", "9" * 40, "", " ", "NaN"),
    *(":", ",", "=", "+", "+tbf", ":hub", ":bus", ":broadband", ":cable", ":switch", "::", ",,"),
    *("delay", "delay=1ms", "loss=1%", "loss=200%", "loss=NaN", "loss=inf", "burst=8", "burst=-1"),
    *(
        "propagation=2us",
        "propagation=1e99s",
        "precise",
        "precise=",
        "\x00",
        "\u0661\u0660M",
        "µs",
        "\n",
    ),
)


@pytest.mark.parametrize(
    ("text", "shape", "topology", "propagation_ns"),
    [
        ("unshaped", "none", None, 0),
        ("unshaped:switch", "none", "switch", 0),
        ("10M", "medium", None, 0),
        ("100M", "medium", None, 0),
        ("100M:switch", "medium", "switch", 0),
        ("10M:hub", "medium", "hub", 2_500),
        # Half a slot of 512 bits: the longest with which every collision is noticed.
        ("10M:bus", "medium", "bus", 25_600),
        ("2M:broadband", "medium", "broadband", 25_000),
        ("10M:bus,propagation=10us", "medium", "bus", 10_000),
        ("100M:hub", "medium", "hub", 2_500),
        ("101M", "tbf", None, 0),
        ("1G", "tbf", None, 0),
        ("1G:switch", "tbf", "switch", 0),
        ("100M:cable+tbf", "tbf", "cable", 0),
        ("10M+tbf", "tbf", None, 0),
    ],
)
def test_the_link_text_decides_the_rate_limiter(
    text: str, shape: str, topology: str | None, propagation_ns: int
) -> None:
    found = parse_link(text)
    assert (found.shape, found.topology, found.propagation()) == (shape, topology, propagation_ns)
    assert str(found) == text


@pytest.mark.parametrize(
    ("text", "canonical", "request_"),
    [
        (
            "100 Mbit/s:cable, delay=1000us , loss=0.001",
            "100M:cable,delay=1ms,loss=0.1%",
            LinkRequest(100_000_000, "cable", delay_ns=1_000_000, loss_ratio=0.001),
        ),
        (
            "100M:switch,burst=8,loss=1%",
            "100M:switch,loss=1%,burst=8",
            LinkRequest(100_000_000, "switch", loss_ratio=0.01, loss_burst_frames=8.0),
        ),
        ("1e+7", "10M", LinkRequest(10_000_000)),
        ("1234567", "1.234567M", LinkRequest(1_234_567)),
        ("10M:hub,precise", "10M:hub,precise", LinkRequest(10_000_000, "hub", precise=True)),
        ("10M,delay=0.5us,loss=0", "10M,delay=0.5us", LinkRequest(10_000_000, delay_ns=500)),
    ],
)
def test_a_link_has_one_shortest_text(text: str, canonical: str, request_: LinkRequest) -> None:
    assert parse_link(text) == request_
    assert str(request_) == canonical
    assert parse_link(canonical) == request_


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("10M:hubb", "no topology named `hubb`", "did you mean `10M:hub`?"),
        ("10M:HUB", "no topology named `HUB`", "did you mean `10M:hub`?"),
        ("10M,hub", "found `hub` after a comma", "did you mean `10M:hub`?"),
        ("10M:loss=1%", "is not a topology", "did you mean `10M,loss=1%`?"),
        ("10M,dealy=1ms", "found `dealy=1ms` after a comma", "did you mean `delay=1ms`?"),
        ("10M,delay", "found `delay` after a comma", "did you mean `delay=1ms`?"),
        ("10M,preciss", "found `preciss` after a comma", "did you mean `precise`?"),
        ("unshapd", "`unshapd` is not a number with a unit", "did you mean `unshaped`?"),
        ("10M,", "found `` after a comma; allowed: delay=1ms", "write e.g. `10M`"),
        ("10M+htb", "found `+htb`; allowed: +tbf", "write e.g. `100M:cable+tbf`"),
        (
            "10M,loss=200%",
            "loss: found `200%`; allowed: 0, or 1e-07 % to below 100 %",
            "write e.g.",
        ),
        (
            "10M,loss=100%",
            "loss: found `100%`; allowed: 0, or 1e-07 % to below 100 %",
            "write e.g.",
        ),
        ("10M,loss=NaN", "loss: `NaN` is not a share", "write e.g. `loss=0.1%`"),
        ("10M,loss=-1%", "loss: `-1%` is not a share", "write e.g. `loss=0.1%`"),
        ("10M,delay=-1ms", "delay: `-1ms` is negative", "write e.g. `delay=1ms`"),
        ("10M,delay=1mss", "delay: `1mss` is not a number with a unit", "did you mean `1ms`?"),
        ("10M,delay=1h", "delay: found `1h`; allowed: at most 10 s", "write e.g."),
        ("10M,delay=0.0001us", "is not a whole number of nanoseconds", "write e.g."),
        (
            "10M,burst=0,loss=1%",
            "burst: found `0`; allowed: 1 to 1,000,000",
            "e.g. `burst=8`",
        ),
        ("10M,delay=1ms,delay=1ms", "`delay` is set twice", "omit one"),
        ("10M,precise,precise", "`precise` is set twice", "omit one"),
        ("unshaped,delay=1ms", "`delay` needs a speed", "name a speed"),
        ("unshaped:hub", "`hub` needs a speed", "name a speed"),
        ("unshaped+tbf", "`+tbf` needs a speed; `unshaped` has none", "omit `+tbf`"),
        ("10M:hub+tbf", "`hub` cannot be combined with a token bucket", "omit `+tbf`"),
        ("10M+tbf,loss=1%", "`loss` cannot be combined with a token bucket", "omit `+tbf`"),
        ("1G:hub", "`hub` cannot be had at 1.00 Gbit/s; allowed: up to 100 Mbit/s", "ask for"),
        ("1G,delay=1ms,precise", "`delay`, `precise` cannot be had at 1.00 Gbit/s", "ask for"),
        ("10M,propagation=2us", "only with topology hub or bus or broadband", "use `delay`"),
        ("10M:bus,propagation=30us", "hides collisions; allowed: at most 25.6us", "use `delay`"),
        ("10M,burst=8", "`burst` without `loss` has no effect", "loss=1%,burst=8"),
        ("10M,loss=90%,burst=2", "cannot lose 90 %; allowed: at most 66.67 %", "longer bursts"),
    ],
)
def test_invalid_links_are_refused_with_a_hint(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_link(text)
    assert caught.value.message.startswith("link: ")
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=4)), max_size=7).map("".join))
def test_any_text_is_a_link_or_a_usage_error(text: str) -> None:
    try:
        found = parse_link(text)
    except UsageError:
        return
    assert parse_link(str(found)) == found


@settings(max_examples=300, deadline=None)
@given(
    rate_bps=st.integers(1_000, 100_000_000),
    topology=st.sampled_from([None, "cable", "switch", "hub", "bus", "broadband"]),
    delay_ns=st.integers(0, 10**10),
    loss_ratio=st.just(0.0) | st.floats(1e-9, 0.5),
    loss_burst_frames=st.floats(1, 1e6),
    precise=st.booleans(),
)
def test_every_link_of_the_medium_is_read_back_from_its_text(**fields: object) -> None:
    if not fields["loss_ratio"]:
        fields["loss_burst_frames"] = 1.0
    request = LinkRequest(**fields)  # type: ignore[arg-type]
    assert parse_link(str(request)) == request
