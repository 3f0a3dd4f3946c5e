"""
Trials over paths that take long, on which nothing is lost: what they give does not depend on the
delay.

What both ends decide is tried in virtual time (`crates/workloads/tests/long_paths.rs`); here are
the waits of sockets, set-up and driver, in real time.
"""

from typing import Any

import pytest
from trial_running import Pair, opened_pair

from lanlab.errors import EngineError
from lanlab.workloads import WORKLOADS

#: Goodput of messages of 1408 bytes on 10 Mbit/s: 1474 bytes with overhead (docs/measuring.md).
FULL_BPS = 10e6 * 1408 / (1408 + 66)


def opened(delay: str) -> Any:
    return opened_pair("virtual", f"10M:cable,delay={delay}")


def check_stream(pair: Pair, time_s: float) -> None:
    trial = pair.trial("stream", time_s=time_s, rate_bps="5M", warmup_s=0.2)
    assert trial.metrics["lost_messages"] == 0
    # A busy machine sends some of it late; a window that does not follow the path loses a third.
    assert trial.metrics["goodput_bps"] == pytest.approx(5e6, rel=0.08)


def check_full(pair: Pair, time_s: float) -> None:
    """A stream as fast as possible fills the link, which is what a search for saturation finds."""
    trial = pair.trial("stream", time_s=time_s, warmup_s=0.2)
    assert trial.metrics["goodput_bps"] == pytest.approx(FULL_BPS, rel=0.01)


def check_echo(pair: Pair, delay_s: float, **amount: Any) -> None:
    trial = pair.trial("echo", message_size_bytes=64, warmup_s=0.2, **amount)
    assert trial.metrics["timeouts"] == 0
    assert trial.metrics["rtt_min_ns"] == pytest.approx(2e9 * delay_s, rel=0.1, abs=5e6)


def test_the_default_timeout_follows_the_path_and_a_given_one_is_kept_or_refused() -> None:
    with opened("600ms") as pair:
        check_echo(pair, 0.6, rate_requests_per_s=10, requests=3)
        given = {"message_size_bytes": 64, "requests": 1, "timeout_s": 1.0}
        error = pair.exchange("echo", **given).error
    assert isinstance(error, EngineError)
    assert error.code == "echo.timeout_below_path"
    assert "a round trip of this path takes 1.2" in error.message
    assert error.hint is not None and "--timeout" in error.hint


def test_tcp_opens_and_closes_on_a_path_longer_than_the_idle_timeout() -> None:
    """Its round trip is 0.6 s; a silence of a quarter of a second ends trials on a LAN."""
    with opened("300ms") as pair:
        trial = pair.trial("stream", transport="tcp", messages=20, silence_s=0.25)
        assert trial.target["total_bytes"] == 20 * 1408
        check_echo(pair, 0.3, transport="tcp", requests=3)


def test_on_a_lan_path_the_lan_timeouts_apply() -> None:
    with opened_pair() as pair:
        outcome = pair.exchange("echo", requests=1, message_size_bytes=64)
    request = outcome.setup["requests"]["requester"]
    assert request["spec"]["silence_ns"] == 3_000_000_000
    kind = WORKLOADS["echo"]
    steps = kind.steps(kind.Parameters.model_validate({"requests": 1}))
    assert steps.round_trips() == 11


@pytest.mark.long
@pytest.mark.parametrize(
    ("delay", "delay_s"),
    [
        ("0", 0.0),
        ("28ms", 0.028),
        ("300ms", 0.3),
        ("600ms", 0.6),
        ("1s", 1.0),
        ("3s", 3.0),
    ],
)
def test_every_workload_gives_the_same_on_every_path(delay: str, delay_s: float) -> None:
    with opened(delay) as pair:
        check_stream(pair, 1.0)
        check_full(pair, 1.0)
        check_echo(pair, delay_s, requests=2)
        check_echo(pair, delay_s, rate_requests_per_s=10, requests=5)
        check_echo(pair, delay_s, transport="tcp", requests=1)
        tcp = pair.trial("stream", transport="tcp", messages=50)
        assert tcp.target["total_bytes"] == 50 * 1408
        # TCP would take many round trips to fill the path.
        load = pair.trial(
            "load",
            load="both",
            transport="udp",
            rate_bps="4M",
            flows=1,
            time_s=1,
            warmup_s=1,
            echo_rate_requests_per_s=20,
        )
        assert load.metrics["echo_loss_ratio"] == 0
        assert load.metrics["goodput_bps"] == pytest.approx(4e6, rel=0.02)
