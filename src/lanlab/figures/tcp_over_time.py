"""The state of a TCP connection in the sender's kernel over time. Shades show the bottleneck."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lanlab.analysis.attempts import counting
from lanlab.analysis.tcp_over_time import (
    REVERSE_SENDER,
    TcpSample,
    limited_parts,
    samples_of,
    segment_bytes_of,
)
from lanlab.figures.chart import Axis, Band, Chart, Point, Series
from lanlab.figures.gather import FigureData

#: Names of lines, each with a function for its values in the axis's unit.
_Lines = Mapping[str, Callable[[TcpSample], float]]
_VIEWS: Mapping[str, tuple[Axis, _Lines]] = {
    "window": (
        Axis("window", "kB"),
        {
            "congestion window": lambda sample: sample.congestion_window_bytes / 1e3,
            "receiver's window": lambda sample: sample.peer_window_bytes / 1e3,
        },
    ),
    "round_trip": (
        Axis("smoothed round trip", "ms"),
        {"smoothed round trip": lambda sample: sample.round_trip_ns / 1e6},
    ),
    "rate": (
        Axis("rate", "Mbit/s"),
        {
            "pacing rate": lambda sample: sample.pacing_rate_bps / 1e6,
            "delivery rate": lambda sample: sample.delivery_rate_bps / 1e6,
        },
    ),
    "retransmitted": (
        Axis("segments sent again", "segments"),
        {"sent again": lambda sample: float(sample.retransmitted_segments)},
    ),
}


def tcp_window_over_time(data: FigureData) -> Chart:
    return _view(data, "window")


def tcp_round_trip_over_time(data: FigureData) -> Chart:
    return _view(data, "round_trip")


def tcp_rate_over_time(data: FigureData) -> Chart:
    return _view(data, "rate")


def tcp_retransmissions_over_time(data: FigureData) -> Chart:
    return _view(data, "retransmitted")


def _view(data: FigureData, name: str) -> Chart:
    axis, lines = _VIEWS[name]
    own = [
        trial
        for trial in counting(data.trials)
        if trial.experiment in data.figure.experiments and samples_of(trial)
    ]
    samples = samples_of(own[0]) if own else []
    back = samples_of(own[0], REVERSE_SENDER) if own else []
    series = [
        Series(name, tuple(_point(sample, value(sample), name) for sample in taken), kind="bound")
        for taken, suffix in ((samples, ""), *([(back, ", second direction")] if back else []))
        for line, value in lines.items()
        for name in (f"{line}{suffix}",)
    ]
    # Values are 0 if the kernel does not report them. Omit such lines.
    series = [one for one in series if any(point.y for point in one.points)] or series[:1]
    parts = limited_parts(samples, segment_bytes_of(own[0])) if own else []
    bands = tuple(Band(part.by, part.start_ns / 1e9, part.end_ns / 1e9) for part in parts)
    said = "What the sender's kernel knew (TCP_INFO)"
    if own:
        words = data.called(own[0].factors)
        said += f" in trial {own[0].number}{f' ({words})' if words else ''}"
        said += " of its first flow." if int(own[0].parameters.get("flows", 1)) > 1 else "."
    else:
        said += "."
    whose = "the sender of the first direction" if back else "the sender"
    if bands:
        said += (
            f" Shaded: what limited {whose}, where it was not the network or its congestion window."
        )
    return data.chart(
        Axis("time since the start", "s"),
        axis,
        series,
        said,
        drawn="Samples of one trial are not independent of each other.",
        bands=bands,
        empty="no samples of its TCP connections are in the store",
    )


def _point(sample: TcpSample, y: float, line: str) -> Point:
    return Point(sample.at_ns / 1e9, y, condition=line)
