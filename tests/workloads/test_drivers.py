"""
Other programs' output, read as lanlab's figures; and what they are refused for.

The outputs in `driver_outputs/` were recorded with lanlab's own drivers from the real programs, on
an unshaped cable of the virtual testbed; each file says which version and when. Of what iperf3 says
at its start only the version is kept.
"""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from lanlab.errors import RunError, UnknownName, UnmetNeed
from lanlab.workloads import workload
from lanlab.workloads.drivers.base import Metrics, Output
from lanlab.workloads.drivers.registry import DRIVERS, driver, driver_needs

OUTPUTS = sorted((Path(__file__).parent / "driver_outputs").glob("*.json"))
STREAMS = [path for path in OUTPUTS if "-stream-" in path.name]
ECHOES = [path for path in OUTPUTS if "-echo-" in path.name]


def parameters_of(workload_name: str, **given: Any) -> Any:
    return workload(workload_name).Parameters.model_validate(given)


def recorded(path: Path, **changed: str) -> Metrics:
    """The figures that a driver makes of a recorded trial; `changed`: another output of an end."""
    trial = json.loads(path.read_text())
    client, server = (
        Output(changed.get(end, trial[end]["output"]), trial[end]["cpu_s"])
        for end in ("client", "server")
    )
    parameters = parameters_of(trial["workload"], **trial["parameters"])
    kind = DRIVERS[parameters.driver]
    return kind.checked_metrics(trial["workload"], parameters, client, server)


def ids(path: Path) -> str:
    return path.stem


def output_of(name: str) -> Path:
    return next(path for path in OUTPUTS if path.stem == name)


def test_every_driver_has_recorded_outputs_of_its_measurements() -> None:
    wanted = {
        f"{name}-{kind}-{transport}"
        for name, entry in DRIVERS.items()
        for kind, abilities in entry.abilities().items()
        for transport in (abilities.sizes if kind == "stream" else ["udp"])
    }

    assert wanted <= {path.stem for path in OUTPUTS}


@pytest.mark.parametrize("path", STREAMS, ids=ids)
def test_a_recorded_stream_gives_figures_that_fit_each_other(path: Path) -> None:
    trial = json.loads(path.read_text())
    metrics = recorded(path)
    size, flows = trial["parameters"]["message_size_bytes"], trial["parameters"].get("flows", 1)

    assert metrics["goodput_bps"] > 0
    per_s = metrics["received_messages_per_s"]
    assert per_s == pytest.approx(metrics["goodput_bps"] / 8 / size)
    if "received_messages" in metrics:
        # One second, or as nearly as the program keeps it.
        assert metrics["received_messages"] == pytest.approx(per_s, rel=0.05)
        assert metrics["received_bytes"] == metrics["received_messages"] * size
        assert metrics["receiver_cpu_ns_per_message"] > 0
    if "loss_ratio" in metrics:
        assert metrics["loss_ratio"] + metrics["received_ratio"] == pytest.approx(1)
        assert 0 <= metrics["loss_ratio"] < 1
        # The receiver's count against the sender's: apart by what a warm-up's end cuts.
        known = metrics["received_messages"] + metrics["lost_messages"]
        assert known == pytest.approx(metrics["sent_messages"], rel=0.05)
    if "rate_bps" in trial["parameters"]:
        assert metrics["goodput_bps"] == pytest.approx(5e6, rel=0.02)
        assert flows == 2
    assert metrics["sender_cpu_s"] > 0 and metrics["receiver_cpu_s"] > 0


@pytest.mark.parametrize("path", ECHOES, ids=ids)
def test_recorded_round_trips_give_figures_that_fit_each_other(path: Path) -> None:
    metrics = recorded(path)

    assert 1e9 / metrics["replies_per_s"] == pytest.approx(metrics["rtt_mean_ns"], rel=0.05)
    order = ("min", "p50", "p90", "p99", "p999", "max")
    found = [metrics[f"rtt_{name}_ns"] for name in order if f"rtt_{name}_ns" in metrics]
    assert found == sorted(found)
    # Each end of a round trip does the same.
    assert metrics["requester_cpu_s"] == pytest.approx(metrics["responder_cpu_s"], rel=0.5)


def test_iperf3_s_warm_up_is_in_no_figure_but_pays_its_share_of_the_processor() -> None:
    path = output_of("iperf3-stream-tcp")
    trial, metrics = json.loads(path.read_text()), recorded(path)
    intervals = json.loads(trial["server"]["output"])["intervals"]

    assert [interval["sum"]["omitted"] for interval in intervals] == [True, False]
    measured, whole = intervals[1]["sum"]["bytes"], sum(i["sum"]["bytes"] for i in intervals)
    assert metrics["received_messages"] == measured // 500
    # By whole messages.
    share = trial["server"]["cpu_s"] * measured / whole
    assert metrics["receiver_cpu_s"] == pytest.approx(share, rel=1e-4)


def test_loss_is_the_receiver_s_count() -> None:
    path = output_of("iperf3-stream-udp")
    server = json.loads(json.loads(path.read_text())["server"]["output"])
    received = server["end"]["sum_received"]

    metrics = recorded(path)

    assert metrics["lost_messages"] == received["lost_packets"] > 0
    assert metrics["received_messages"] == received["packets"] - received["lost_packets"]


def test_values_missing_from_a_program_are_absent() -> None:
    assert not {"sent_messages", "lost_messages", "received_ratio"} & set(
        recorded(output_of("neper-stream-udp"))
    )
    assert not {"rtt_p50_ns", "rtt_max_ns"} & set(recorded(output_of("qperf-echo-udp")))


@pytest.mark.parametrize("path", OUTPUTS, ids=ids)
@pytest.mark.parametrize("garbled", ["", "command not found\n", '{"error": "the server is busy"}'])
def test_foreign_output_is_an_error_not_a_number(path: Path, garbled: str) -> None:
    name = path.stem.partition("-")[0]

    with pytest.raises(RunError, match=name):
        recorded(path, client=garbled, server=garbled)


@pytest.mark.parametrize("path", OUTPUTS, ids=ids)
@pytest.mark.parametrize("number", ["1e300", "-1e300", "9" * 400, "NaN", "0", "null", "[]"])
def test_numbers_that_no_program_can_have_measured_are_refused(path: Path, number: str) -> None:
    trial = json.loads(path.read_text())
    both = {
        end: re.sub(r"\d+(\.\d+)?", number, trial[end]["output"]) for end in ("client", "server")
    }
    try:
        figures = recorded(path, **both)
    except RunError as error:
        assert path.stem.partition("-")[0] in error.message
    else:
        assert all(abs(value) <= 2**63 for value in figures.values())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"driver": "iperf3", "message_size_bytes": 15}, "15; allowed over udp: 16 to 65507"),
        ({"driver": "iperf3", "time_s": 1.5}, "found time_s 1.5; allowed: whole seconds"),
        ({"driver": "iperf3", "warmup_s": 0.2}, "found warmup_s 0.2; allowed: whole seconds"),
        ({"driver": "nuttcp", "warmup_s": 1}, "found warmup_s 1; allowed: 0, as it has none"),
        ({"driver": "iperf3", "receive": "spin"}, "found receive spin; allowed: auto, block"),
        ({"driver": "nuttcp", "io": "batch"}, "found io batch; allowed: auto, single"),
        ({"driver": "sockperf", "ip_version": 6}, "found ip_version 6; allowed: 4"),
        ({"driver": "ntttcp", "ip_version": 6}, "found ip_version 6; allowed over udp: 4"),
        ({"driver": "netperf", "rate_bps": "5M"}, "found rate_bps 5000000; allowed: none"),
        ({"driver": "netperf", "flows": 2}, "found flows 2; allowed: 1 to 1"),
        ({"driver": "iperf3", "send_buffer_bytes": 4096}, "allowed: both alike"),
        ({"driver": "neper", "send_buffer_bytes": 4096}, "found send_buffer_bytes 4096"),
        ({"driver": "nuttcp", "send_buffer_bytes": 5000}, "allowed: multiples of 1024"),
        ({"driver": "iperf3", "receiver_quota_ratio": 0.5}, "found receiver_quota_ratio 0.5"),
        ({"driver": "iperf3", "timestamps": "kernel"}, "timestamps kernel; allowed: program"),
        ({"driver": "sockperf", "rate_messages_per_s": 1.5}, "allowed: whole messages/s"),
        ({"driver": "iperf4"}, "found `iperf4`; allowed: lanlab, iperf3"),
        (
            {"driver": "iperf3", "transport": "tcp", "congestion_control": "cubic,bbr"},
            "found congestion_control cubic,bbr; allowed: one",
        ),
    ],
    ids=lambda value: " ".join(map(str, value.values())) if isinstance(value, dict) else None,
)
def test_a_condition_that_a_program_cannot_measure_is_refused(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValidationError, match=r"driver") as refused:
        parameters_of("stream", **{"time_s": 1, **given})
    assert said in str(refused.value)


def test_an_amount_is_refused_of_programs_that_measure_for_a_time() -> None:
    with pytest.raises(ValidationError, match="found no time_s"):
        parameters_of("stream", driver="iperf3", messages=1000)


def test_the_driver_can_omit_the_default_warm_up() -> None:
    assert parameters_of("stream", time_s=1).warmup_s == 0.2
    assert parameters_of("stream", time_s=1, driver="iperf3").warmup_s == 1
    assert parameters_of("stream", time_s=1, driver="nuttcp").warmup_s == 0
    assert parameters_of("stream", time_s=1, driver="iperf3", warmup_s=0).warmup_s == 0
    assert parameters_of("echo", time_s=1, driver="sockperf").warmup_s == 0.4


@pytest.mark.parametrize("name", DRIVERS)
def test_an_absent_program_is_named_with_its_install_command(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    entry = driver(name)
    parameters = parameters_of("stream", time_s=1, driver=name)

    with pytest.raises(UnmetNeed, match=rf"tool `{name}` needs `\w+`, not found on PATH") as lack:
        entry.check_found("stream", parameters)
    assert lack.value.hint == entry.how_to_get
    need = next(need for need in driver_needs() if need.name == name)
    assert not need.found and "not found on PATH" in need.detail


def test_segmentation_needs_an_iperf3_that_supports_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "iperf3"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program.write_text("#!/bin/sh\necho 'iperf 3.12, -u, --udp'\n")
    program.chmod(0o755)
    parameters = parameters_of("stream", time_s=1, driver="iperf3", io="segment")

    with pytest.raises(UnmetNeed, match=r"`segment` needs `--gsro`, which iperf 3.12"):
        driver("iperf3").check_found("stream", parameters)


def test_an_unknown_driver_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="no tool named `iperf33`") as unknown:
        driver("iperf33")
    assert unknown.value.hint == "did you mean `iperf3`?"


def test_every_driver_need_is_listed_once() -> None:
    assert [dataclasses.asdict(need)["name"] for need in driver_needs()] == list(DRIVERS)
