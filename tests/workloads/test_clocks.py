"""When two engines have one clock, and what is known where they do not."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import pytest
from programs import ran
from trial_running import Pair, finished

from lanlab.engine import Engine, engine_path
from lanlab.performers import EngineHost, perform_between
from lanlab.performers.clocks import (
    Clocks,
    Reading,
    clock_record,
    read_clocks,
)
from lanlab.report.traffic.stream_text import one_way_text
from lanlab.workloads import TrialOutcome, workload
from lanlab.workloads.stream.parameters import StreamParameters
from lanlab.workloads.stream.results import one_way_metrics

SHORT: dict[str, Any] = {"messages": 50, "rate_messages_per_s": 5000}
#: How far ahead of ours the clock of the time namespace is.
AHEAD_S = 1000


def clocks(first: int, second: int, same_kernel: bool = True, error_ns: int = 50) -> Clocks:
    boots = ("b", "b" if same_kernel else "c")
    return Clocks(
        {"receiver": Reading(first, 50, boots[0]), "sender": Reading(second, error_ns, boots[1])}
    )


def read(first: EngineHost, second: EngineHost) -> Clocks:
    return read_clocks({"receiver": first, "sender": second})


class Fake:
    def __init__(self, offset_ns: int) -> None:
        self._offset_ns = offset_ns
        #: How many exchanges its clock was read by.
        self.pings: list[int] = []

    def clock_offset(self, pings: int) -> tuple[int, int]:
        self.pings.append(pings)
        return self._offset_ns, 50


def an_end(offset_ns: int, boot_id: str | None) -> EngineHost:
    return EngineHost(cast("Engine", Fake(offset_ns)), "127.0.0.1", boot_id)


@pytest.mark.parametrize(
    ("boots", "pings"), [(("b", "b"), 4), (("b", "c"), 16), ((None, None), 16), (("b", None), 16)]
)
def test_clocks_of_two_kernels_are_read_more_often(
    boots: tuple[str | None, str | None], pings: int
) -> None:
    ends = [an_end(0, boot_id) for boot_id in boots]
    read(*ends)
    assert [cast("Fake", end.engine).pings for end in ends] == [[pings], [pings]]


def test_two_ends_of_one_boot_without_an_offset_share_a_clock() -> None:
    found = read(an_end(7_000_000, "b"), an_end(7_000_100, "b"))

    assert found.are_one_clock
    assert found.last().to_json() == {"offset_ns": 0, "error_ns": 0}
    assert found.starts_ns(1) == [7_000_001, 7_000_001]


@pytest.mark.parametrize("boot_ids", [("b", "c"), ("b", None), (None, None)])
def test_clocks_of_different_or_unknown_kernels_are_never_one(
    boot_ids: tuple[str | None, str | None],
) -> None:
    found = read(an_end(0, boot_ids[0]), an_end(20, boot_ids[1]))

    assert not found.are_one_clock
    assert found.last().to_json() == {"offset_ns": 20, "error_ns": 100}
    assert found.starts_ns(1) == [1, 21]


def test_one_boot_with_readings_that_disagree_is_two_clocks() -> None:
    assert not clocks(1_000, 1_101).are_one_clock
    assert clocks(1_000, 1_100).are_one_clock
    assert clocks(5_000, 1_000).last().to_json() == {"offset_ns": -4_000, "error_ns": 100}


def test_the_error_bound_of_a_trial_includes_its_drift() -> None:
    """The engine was told 4,000; at the end it was 4,600, give or take 100."""
    record = clock_record(clocks(0, 4_000, False), clocks(0, 4_600, False))

    assert record["drift_ns"] == 600
    assert record["bound_ns"] == 700
    assert record["relation"] == {"offset_ns": 4_000, "error_ns": 100}
    # A better reading at the end does not make what the engine was told any better.
    worse = clocks(0, 4_000, False, error_ns=500)
    assert clock_record(worse, clocks(0, 4_000, False))["bound_ns"] == 550


def test_one_clock_has_no_error_and_keeps_what_was_measured() -> None:
    record = clock_record(clocks(0, 30), clocks(10, -20))

    assert (record["shared_clock"], record["bound_ns"], record["drift_ns"]) == (True, 0, -60)
    assert record["before"]["difference_ns"] == 30
    assert record["after"] == {
        "receiver": {"offset_ns": 10, "error_ns": 50},
        "sender": {"offset_ns": -20, "error_ns": 50},
        "difference_ns": -30,
        "error_ns": 100,
    }


def test_diverged_clocks_have_the_offset_as_their_error() -> None:
    assert clock_record(clocks(0, 0), clocks(0, 9_000))["bound_ns"] == 9_100


def test_a_failed_trial_records_its_clocks() -> None:
    record = clock_record(clocks(0, 4_000, False), None)

    assert record["bound_ns"] == 100
    assert "after" not in record and "drift_ns" not in record


def test_one_way_figures_appear_only_if_the_receiver_has_them() -> None:
    delay = {"samples": 100, "min_ns": -5, "p50_ns": 70, "p99_ns": 90, "max_ns": 99}
    setup = {"clocks": clock_record(clocks(0, 4_000, False), None)}

    measured = TrialOutcome({"receiver": {"one_way_delay": delay}}, setup)
    assert one_way_metrics(measured) == {
        "one_way_delay_min_ns": -5,
        "one_way_delay_p50_ns": 70,
        "one_way_delay_p99_ns": 90,
        "clock_error_ns": 100,
    }
    for none in ({"one_way_delay": None}, {}, {"one_way_delay": {**delay, "samples": 0}}):
        assert one_way_metrics(TrialOutcome({"receiver": none}, setup)) == {}


def test_a_one_way_delay_is_shown_with_its_bound_and_not_beyond_it() -> None:
    metrics = {
        "one_way_delay_min_ns": 20_000,
        "one_way_delay_p50_ns": 30_000,
        "one_way_delay_p99_ns": 50_000,
        "clock_error_ns": 0,
    }

    assert one_way_text({}) is None
    assert one_way_text(metrics) == "min 20.0 µs, p50 30.0 µs, p99 50.0 µs (one clock)"
    assert one_way_text({**metrics, "clock_error_ns": 5_000}) == (
        "min 20.0 µs, p50 30.0 µs, p99 50.0 µs, each ± 5.00 µs (clocks of two hosts)"
    )
    kept = one_way_text({**metrics, "clock_error_ns": 5_000}, "pc1 by ptp4l; nas by nothing")
    assert kept is not None
    assert kept.endswith("(clocks of two hosts: pc1 by ptp4l; nas by nothing)")
    vague = one_way_text({**metrics, "clock_error_ns": 80_000})
    assert vague is not None
    assert vague.endswith("; the delays are smaller than the clock error, so ignore them")


def test_engines_of_one_machine_are_shown_to_have_one_clock(pair: Pair) -> None:
    setup = pair.trial("stream", **SHORT).exchange.setup

    assert setup["clocks"]["shared_clock"]
    assert setup["start"]["shared_clock"]
    assert setup["requests"]["receiver"]["sender_clock"] == {"offset_ns": 0, "error_ns": 0}
    for moment in ("before", "after"):
        measured = setup["clocks"][moment]
        assert abs(measured["difference_ns"]) <= measured["error_ns"]


def test_an_echo_records_its_clocks_without_sending_them(pair: Pair) -> None:
    setup = pair.trial("echo", requests=10).exchange.setup

    assert setup["clocks"]["shared_clock"]
    assert "sender_clock" not in setup["requests"]["responder"]


@contextmanager
def ahead() -> Iterator[Engine]:
    """An engine whose monotonic clock is `AHEAD_S` ahead of ours, on the same kernel."""
    prefix = ["unshare", "--time", "--monotonic", str(AHEAD_S), "--fork", "--kill-child"]
    if os.geteuid() != 0:
        prefix[1:1] = ["--user", "--map-root-user"]
    try:
        tried = ran([*prefix, "true"])
        wrong = tried.stderr.strip() if tried.returncode else ""
    except OSError as error:
        wrong = str(error)
    if wrong:
        why = f"no time namespace can be made here: {wrong}"
        # There the system is known to have them: that one cannot be made is a fault.
        if os.geteuid() == 0 and os.environ.get("CI") and shutil.which("unshare"):
            pytest.fail(why)
        pytest.skip(why)
    with Engine("ahead", [*prefix, engine_path()]) as engine:
        yield engine


@pytest.mark.parametrize("sends", [True, False], ids=["sender ahead", "receiver ahead"])
def test_a_time_namespace_is_detected_despite_equal_boot_ids(pair: Pair, sends: bool) -> None:
    with ahead() as engine:
        ours, theirs = pair.end(0), replace(pair.end(1), engine=engine)
        assert engine.describe()["boot_id"] == ours.boot_id
        source, target = (theirs, ours) if sends else (ours, theirs)
        condition = StreamParameters.model_validate({**SHORT, "warmup_s": 0})
        exchange = perform_between(workload("stream"), condition, source, target, 0.05)

    trial = finished(exchange, "stream", **SHORT)
    found = exchange.setup["clocks"]
    assert found["same_kernel"] and not found["shared_clock"]
    offset_ns = AHEAD_S * 1_000_000_000 * (1 if sends else -1)
    told = exchange.setup["requests"]["receiver"]["sender_clock"]
    assert abs(told["offset_ns"] - offset_ns) <= told["error_ns"]
    assert 0 < told["error_ns"] <= found["bound_ns"] < 5_000_000_000
    assert trial.metrics["lost_messages"] == 0
    # Of a start that was 1000 s off nothing would have come.
    assert trial.metrics["start_skew_ns"] < 5_000_000_000
