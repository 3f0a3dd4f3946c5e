"""An engine's results of a stream with an iperf3 server, made up."""

from typing import Any

from made_up_ends import exchange_of, stream_received, stream_sent

from lanlab.workloads import CounterChanges, workload
from lanlab.workloads.stream.parameters import StreamParameters


def reported(**changes: Any) -> dict[str, Any]:
    """A flow as the server reports it: 900 messages of 500 bytes, in a second and a half."""
    return {
        "bytes": 450_000,
        "retransmits": 7,
        "jitter": 0.000_002,
        "errors": 100,
        "packets": 1000,
        "start_time": 0,
        "end_time": 1.5,
        **changes,
    }


def peer_results(**parameters: Any) -> dict[str, float | int]:
    condition = {
        "peer": "iperf3://192.0.2.7",
        "traffic_direction": "both",
        "time_s": 1,
        "message_size_bytes": 500,
        **parameters,
    }
    acknowledged = {"window_ns": 500_000_000, "window_bytes": 300_000, "total_bytes": 440_000}
    octets = [50_000] * 4 + [0] * 7 + [100_000] * 4
    sent = stream_sent(
        acknowledged=acknowledged,
        intervals={"interval_ns": 100_000_000, "bytes": octets},
        returned_bytes=12,
        stack={"held_bytes": 36_000},
    )
    outcome = exchange_of(sent, stream_received(total_messages=950, total_bytes=475_000))
    outcome.results["reverse_receiver"] = outcome.results.pop("receiver")
    back = reported(bytes=500_000, errors=0)
    flows = [reported(), back]
    waited = {"waited_ns": 300_000_000}
    outcome.results["peer"] = {"sender_has_retransmits": 1, "streams": flows, **waited}
    checked = StreamParameters.model_validate(condition)
    return workload("stream").summarise(checked, outcome, CounterChanges())
