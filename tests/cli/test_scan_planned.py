"""What a scan is before anything is measured: its conditions, its metrics, its time, its limits."""

from dataclasses import replace
from typing import Any

import pytest

from lanlab.cli.commands.scan import SCAN, Scan, is_scan, scan_of, with_single_levels
from lanlab.errors import UsageError
from lanlab.store import RunRecord
from lanlab.units import format_duration

#: Of a stream, which then takes two seconds a condition.
SHORT = {"time_s": "1.5", "warmup_s": "0.5"}


def scan(workload: str = "stream", trials: int = 1, **given: Any) -> Scan:
    found = scan_of(workload, given, trials)
    assert found is not None
    return found


def refusal(trials: int = 1, **given: Any) -> UsageError:
    with pytest.raises(UsageError) as refused:
        scan_of("stream", given, trials)
    return refused.value


def test_options_with_several_values_are_varied_and_the_others_fixed() -> None:
    found = scan(
        message_size_bytes="64,128", rate_bps="1M..3M/1M", flows=None, transport="udp", **SHORT
    )
    assert found.factors == {
        "message_size_bytes": (64, 128),
        "rate_bps": (1_000_000, 2_000_000, 3_000_000),
    }
    assert found.parameters == {"transport": "udp", "time_s": 1.5, "warmup_s": 0.5}
    assert (found.workload, found.conditions, found.expected_s) == ("stream", 6, 12.0)
    assert found.varied == "2 values of --size x 3 values of --rate"
    assert found.subject == "UDP stream, 1 flow, 1.5 s, by message size and rate"
    assert found.experiment() == {
        "id": SCAN,
        "title": found.subject,
        "workload": "stream",
        "metrics": ["goodput_bps", "received_ratio"],
        "parameters": found.parameters,
        "factors": {
            "message_size_bytes": [64, 128],
            "rate_bps": [1_000_000, 2_000_000, 3_000_000],
        },
    }


def test_the_time_of_a_scan_covers_all_its_conditions() -> None:
    assert scan(time_s="1,2,4", warmup_s="0").expected_s == 7


def test_one_value_of_each_option_is_no_scan() -> None:
    assert scan_of("stream", {"message_size_bytes": "64", "rate_bps": None}, 1) is None
    assert scan_of("stream", {"driver": ("iperf3", "netperf")}, 1) is None
    assert scan_of("stream", {}, 1) is None


def test_targets_of_a_command_are_levels_as_they_are() -> None:
    found = scan("copy", server=("ftp://a,b/", "ftp://c/"), service="ftp", dataset="1x1kB")
    assert found.factors == {"server": ("ftp://a,b/", "ftp://c/")}
    assert found.varied == "2 targets"
    assert found.experiment()["metrics"] == ["goodput_bps"]


@pytest.mark.parametrize(
    ("given", "metrics"),
    [
        ({"traffic_direction": "both"}, ["goodput_bps", "received_ratio"]),
        ({"traffic_direction": "forward,both"}, ["goodput_bps", "received_ratio"]),
        ({"traffic_direction": "forward"}, []),
        ({"traffic_direction": "forward,reverse"}, []),
        ({}, []),
    ],
)
def test_a_stream_both_ways_has_the_metrics_of_the_second_one(
    given: dict[str, str], metrics: list[str]
) -> None:
    found = scan(message_size_bytes="64,128", transport="udp", **SHORT, **given)
    own = ["goodput_bps", "received_ratio"]
    assert found.experiment()["metrics"] == [*own, *(f"reverse_{key}" for key in metrics)]


@pytest.mark.parametrize(
    ("given", "metrics"),
    [
        ({"peer": "tcp://h:1", "transport": "tcp"}, ["acknowledged_bps"]),
        ({"peer": "iperf3://h", "transport": "udp"}, ["peer_goodput_bps"]),
        (
            {"peer": "iperf3://h", "transport": "tcp", "traffic_direction": "reverse"},
            ["goodput_bps"],
        ),
        (
            {"peer": "iperf3://h", "transport": "tcp", "traffic_direction": "reverse,forward"},
            ["goodput_bps", "acknowledged_bps"],
        ),
    ],
)
def test_metrics_with_a_peer_are_counted_at_this_end(
    given: dict[str, str], metrics: list[str]
) -> None:
    found = scan(message_size_bytes="64,128", time_s="1", **given)
    assert found.experiment()["metrics"] == metrics


def test_several_peers_are_levels() -> None:
    found = replace(scan(message_size_bytes="64,128", **SHORT), parameters={"transport": "tcp"})
    varied = replace(found, factors={"peer": ("tcp://a:1", "tcp://b:1")})
    assert varied.experiment()["metrics"] == ["acknowledged_bps"]
    own = {"transport": "tcp", "traffic_direction": "reverse"}
    assert replace(varied, parameters=own).experiment()["metrics"] == ["goodput_bps"]


def test_duplicate_values_are_refused() -> None:
    error = refusal(message_size_bytes="1k,64,1000", **SHORT)
    assert error.message == "--size: found a value twice; allowed: each value once"
    assert error.hint == "--trials measures each condition several times"


def test_scans_are_limited_in_size() -> None:
    """10,000 conditions, and 100,000 trials; it is refused before any condition is made."""
    known = {"message_size_bytes": "64,128", **SHORT}
    assert scan(trials=50_000, **known).conditions == 2
    error = refusal(trials=50_001, **known)
    assert error.message == (
        "found 2 values of --size = 2 conditions x 50,001 trials = 100,002 trials of about 2.25 s: "
        "2 d 15 h; allowed: at most 10,000 conditions and 100,000 trials"
    )
    assert error.hint == "give fewer values, or a larger step"
    most_conditions = {"message_size_bytes": "64..1063/1", "rate_bps": "1M..10M/1M"}
    assert scan(**most_conditions, **SHORT).conditions == 10_000
    many = refusal(message_size_bytes="64..1063/1", rate_bps="1M..11M/1M", **SHORT)
    assert many.message.startswith(
        "found 1,000 values of --size x 11 values of --rate = 11,000 conditions x 1 trial = "
        "11,000 trials of about 2.25 s: "
    )
    far = refusal(message_size_bytes="64,128", rate_bps="1000000..2000000000000/1", **SHORT)
    assert "2.0e+12 values of --rate = 4.0e+12 conditions x 1 trial" in far.message
    round_ = refusal(message_size_bytes="64", rate_bps="1000000..1000000999999/1", **SHORT)
    assert "found 1.0e+12 values of --rate = 1.0e+12 conditions" in round_.message
    most = refusal(message_size_bytes="64", rate_bps="1000000..1000000999998/1", **SHORT)
    assert "found 999,999,999,999 values of --rate = 999,999,999,999 conditions" in most.message


def test_a_scan_states_its_size_before_it_starts(capsys: pytest.CaptureFixture[str]) -> None:
    found = scan(message_size_bytes="64,128", **SHORT)
    found.announce(1)
    found.announce(2)
    assert capsys.readouterr().err.splitlines() == [
        "scan: 2 values of --size = 2 conditions x 1 trial = 2 trials, about 5 s",
        "scan: 2 values of --size = 2 conditions x 2 trials = 4 trials, about 9 s",
    ]
    replace(found, conditions=1, expected_s=1.0).announce(1)
    assert "1 condition x 1 trial = 1 trial, about 2 s" in capsys.readouterr().err
    # 4 times 31 s, and 12 times a quarter of a second.
    replace(found, conditions=3, expected_s=31.0).announce(4)
    assert "= 12 trials, about 2 min 7 s" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.1, "1 min"),
        (59, "59 s"),
        (60, "1 min"),
        (3_599, "59 min 59 s"),
        (3_600, "1 h"),
        (3_601, "1 h 1 min"),
        (86_399, "24 h"),
        (86_400, "1 d"),
        (90_001, "1 d 2 h"),
        (86_400 * 1_234, "1,234 d"),
        (1e12 - 1, "11,574,074 d 2 h"),
        (1e12, "1.2e+07 d"),
    ],
)
def test_a_time_has_its_two_largest_units(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_single_values_are_read_and_drivers_left_as_they_are() -> None:
    given = {"message_size_bytes": "64", "flows": "2", "driver": ("iperf3",), "rate_bps": None}
    found = with_single_levels("stream", given)
    assert found == {
        "message_size_bytes": "64",
        "flows": 2,
        "driver": ("iperf3",),
        "rate_bps": None,
    }
    with pytest.raises(UsageError, match="--flows"):
        with_single_levels("stream", {"flows": "two"})


@pytest.mark.parametrize(
    ("ids", "is_one"), [([SCAN], True), (["single"], False), ([SCAN, "x"], False), ([], False)]
)
def test_a_scan_runs_only_its_own_experiment(ids: list[str], is_one: bool) -> None:
    study = {"experiment": [{"id": one} for one in ids]} if ids else {}
    run = RunRecord("r", "s", study, "full", 1, {}, {}, "done", "", "")
    assert is_scan(run) is is_one


def test_several_drivers_are_values_of_their_option() -> None:
    given = {"message_size_bytes": "64,128", "time_s": "2", "warmup_s": "0"}
    found = scan(driver=("lanlab", "iperf3"), **given)
    assert found.varied == "2 values of --tool x 2 values of --size"
    assert found.factors["driver"] == ("lanlab", "iperf3") and found.conditions == 4
