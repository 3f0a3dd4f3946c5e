"""A result of the right shape may say anything: it makes metrics, or one clear error."""

import copy
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_ends import exchange_of, stream_received, stream_sent
from made_up_peers import reported

from lanlab.analysis.disturbances.detect import judge
from lanlab.errors import EngineError, LabError
from lanlab.workloads import WORKLOADS, CounterChanges

#: The schema lets these alone be negative: differences of clocks and what is made of them.
SIGNED = frozenset(("clock_step_ns", "max_ns", "mean_ns", "min_ns", "offset_ns", "start_skew_ns"))
#: Whatever 64 bits can say.
_COUNTS = st.sampled_from([0, 1, 2**53, 2**64 - 1]) | st.integers(0, 2**64 - 1)
_TIMES = _COUNTS | st.integers(-(2**63), 2**63 - 1)


def _numbers(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in _numbers(item, (*path, key))]
    if isinstance(value, list):
        return [found for key, item in enumerate(value) for found in _numbers(item, (*path, key))]
    return [path] if isinstance(value, int) and not isinstance(value, bool) else []


def _lie(data: st.DataObject, told: dict[str, Any]) -> dict[str, Any]:
    told = copy.deepcopy(told)
    for *way, last in data.draw(st.lists(st.sampled_from(_numbers(told)), max_size=6, unique=True)):
        place: Any = told
        for key in way:
            place = place[key]
        place[last] = data.draw(_TIMES if last in SIGNED else _COUNTS)
    if "flows" in told:
        told["flows"] = told["flows"] * data.draw(st.integers(0, 3))
    return told


@settings(max_examples=300)
@given(st.data())
def test_any_counts_make_finite_metrics(data: st.DataObject) -> None:
    workload = WORKLOADS["stream"]
    transport = data.draw(st.sampled_from(["udp", "tcp"]))
    parameters = workload.Parameters.model_validate(
        {"transport": transport, "message_size_bytes": 500, "time_s": 1.0, "rate_bps": 4e6}
    )
    sent, received = _lie(data, stream_sent()), _lie(data, stream_received())
    outcome = exchange_of(sent, received)

    try:
        metrics = workload.summarise(parameters, outcome, CounterChanges())
    except EngineError as error:
        # Nothing in the measured part is no result.
        assert error.code in ("stream.nothing_arrived", "stream.nothing_sent")
        return
    assert all(math.isfinite(value) for value in metrics.values()), metrics
    host = {"processors_online": 2, "boot_id": "b", "name": "host0"}
    facts = {"before": {"hosts": {"host0": {"load_average": 0.5}}}}
    judge({**outcome.results, "facts": facts}, metrics, dict.fromkeys(outcome.results, host))


#: Extremes that the engine lets pass of an iperf3 server's report.
_REPORTED = {
    **dict.fromkeys(("bytes", "start_time", "end_time"), st.sampled_from([0, 1, 10**9])),
    **dict.fromkeys(("retransmits", "errors", "packets"), st.integers(-(2**63), 2**63 - 1)),
    "jitter": st.sampled_from([0.0, 1e-300, 1e9]),
}


@settings(max_examples=300)
@given(st.data())
def test_any_report_of_an_iperf3_server_makes_finite_metrics(data: st.DataObject) -> None:
    workload, direction = WORKLOADS["stream"], data.draw(st.sampled_from(["forward", "reverse"]))
    given = {"transport": data.draw(st.sampled_from(["udp", "tcp"])), "message_size_bytes": 500}
    parameters = workload.Parameters.model_validate(
        {"peer": "iperf3://192.0.2.7", "traffic_direction": direction, "time_s": 1, **given}
    )
    acknowledged = {"window_ns": 10**9, "window_bytes": 500_000, "total_bytes": 500_000}
    counted = {"interval_ns": 10**8, "bytes": [50_000] * 10}
    sent = stream_sent(acknowledged=acknowledged, intervals=counted)
    received = stream_received()
    outcome = exchange_of(_lie(data, sent), _lie(data, received))
    if direction == "forward":
        del outcome.results["receiver"]
    else:
        outcome.results["reverse_receiver"] = outcome.results.pop("receiver")
        del outcome.results["sender"]
    flow = reported(**{name: data.draw(values) for name, values in _REPORTED.items()})
    peer = {"sender_has_retransmits": data.draw(st.integers(-1, 1)), "streams": [flow]}
    outcome.results["peer"] = {**peer, "waited_ns": data.draw(_COUNTS)}

    try:
        metrics = workload.summarise(parameters, outcome, CounterChanges())
    except LabError:
        return
    assert all(math.isfinite(value) for value in metrics.values()), metrics
    counted_by_peer = [name for name in metrics if "lost" in name or name.startswith("peer_")]
    assert all(metrics[name] >= 0 for name in counted_by_peer), metrics
