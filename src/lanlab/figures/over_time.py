"""Goodput, round trips and the state of TCP over the time of a trial."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from lanlab.analysis.links.wires import wire_at
from lanlab.analysis.traffic.over_time import MOST_TRIALS, REVERSE_RECEIVER, steps_of
from lanlab.analysis.traffic.tcp_over_time import (
    REVERSE_SENDER,
    TcpSample,
    limited_parts,
    samples_of,
    segment_bytes_of,
)
from lanlab.analysis.trials.summary import limit_of
from lanlab.figures.chart import Axis, Band, Chart, Limit, Point, Series
from lanlab.figures.gather import FigureData, axis, far_apart
from lanlab.figures.wording import quantity
from lanlab.roles import RECEIVER
from lanlab.store import TrialRecord


def goodput_over_time(data: FigureData) -> Chart:
    """Goodput in equal steps of time, with up to four lines: one for each trial, or for each
    direction of a bidirectional trial. A vertical line marks the end of the warm-up. Trials without
    steps (`lanlab.analysis.traffic.over_time`) are not drawn.
    """
    y = quantity(data.study, "goodput_bps")
    own = [trial for trial in data.drawn_trials if steps_of(trial)]
    ways = 1 + any(steps_of(trial, REVERSE_RECEIVER) for trial in own)
    drawn = own[: MOST_TRIALS // ways]
    lines = (one for trial in drawn for one in _lines(trial, data, y.shown, len(own) > 1))
    series = _of_several(lines)
    top = max((p.y for one in series for p in one.points), default=0.0)
    last = max((p.x for one in series for p in one.points), default=0.0)
    limits = warmup(drawn[:1], (0.0, top))
    found: dict[float, str] = {}
    for trial in drawn:
        link = wire_at(data.run, trial.parameters, data.study)
        limit = limit_of("goodput_bps", trial.parameters, link)
        if link is not None and limit is not None:
            found[y.shown(limit)] = link.limit_name
    if found:
        level = max(found)
        name = f"{'highest ' if len(found) > 1 else ''}{found[level]}"
        limits.insert(0, Limit(name, ((0.0, level), (last, level))))
    said = "Bytes received in each step. The warm-up is not counted."
    if len(data.drawn_trials) > len(drawn):
        said += f" {len(drawn)} of {len(data.drawn_trials)} trials."
    return data.chart(
        TIME,
        axis(data.study, "goodput_bps"),
        series,
        said,
        drawn="Steps of one trial are not independent of each other.",
        limits=tuple(limits),
        empty="the steps of its time are not in the store",
    )


def _of_several(series: Iterable[Series]) -> list[Series]:
    """Drop series with a single step: they show nothing over time."""
    return [one for one in series if len(one.points) > 1]


def _lines(
    trial: TrialRecord, data: FigureData, shown: Callable[[float], float], several: bool
) -> list[Series]:
    words = data.called(trial.factors)
    number = f"trial {trial.number}" if several or not words else ""
    name = ", ".join(filter(None, (number, words)))
    if not steps_of(trial, REVERSE_RECEIVER):
        return [_series(trial, RECEIVER, name, shown)]
    return [_series(trial, role, f"{name}, {way}", shown) for role, way in _WAYS.items()]


def _series(trial: TrialRecord, role: str, name: str, shown: Callable[[float], float]) -> Series:
    window_ns = int(trial.result(role).get("window_ns") or 0)
    end_ns = 1e9 * float(trial.parameters.get("warmup_s", 0.0)) + window_ns
    points = tuple(
        Point(
            x=(step.start_ns + step.width_ns / 2) / 1e9,
            y=shown(8e9 * step.octets / step.width_ns),
            condition=f"{name}, {step.width_ns / 1e6:.0f} ms",
        )
        for step in steps_of(trial, role)
        if step.start_ns + step.width_ns <= end_ns
    )
    return Series(name, points)


TIME = Axis("time since the start", "s")


def warmup(trials: Sequence[TrialRecord], ends: tuple[float, float]) -> list[Limit]:
    """A line at the end of the warm-up, from one height to another, if all trials have the same."""
    found = {float(trial.parameters.get("warmup_s", 0.0)) for trial in trials}
    if len(found) != 1 or not (end_s := found.pop()):
        return []
    points = tuple((end_s, y) for y in ends)
    return [Limit("end of the warm-up", points, kind="guide")]


_ROUND_TRIPS = (
    "Mean of the replies that came in each step of time; what is counted begins after the warm-up. "
    "The first trial of each condition."
)


def round_trips_over_time(data: FigureData) -> Chart:
    """A line for the first trial of each condition, up to four. Trials without steps, such as by
    other programs, are not drawn.
    """
    shown = quantity(data.study, "rtt_mean_ns")
    drawn: dict[str, TrialRecord] = {}
    for trial in data.drawn_trials:
        if steps_of_round_trips(trial):
            drawn.setdefault(data.named(trial.factors), trial)
    series = _of_several(
        Series(
            name,
            tuple(
                Point(at_s, shown.shown(mean_ns), condition=f"{name}, {replies} replies")
                for at_s, mean_ns, replies in steps_of_round_trips(trial)
            ),
        )
        for name, trial in list(drawn.items())[:MOST_TRIALS]
    )
    ys = [point.y for one in series for point in one.points]
    return data.chart(
        TIME,
        Axis("round-trip time", shown.unit, far_apart(ys)),
        series,
        _ROUND_TRIPS,
        drawn="Steps of one trial are not independent of each other.",
        limits=tuple(warmup(list(drawn.values()), (min(ys, default=0.0), max(ys, default=0.0)))),
        empty="the steps of its time are not in the store",
    )


def steps_of_round_trips(trial: TrialRecord) -> list[tuple[float, float, int]]:
    """Middle (s), mean round trip (ns) and number of replies of each non-empty step."""
    over_time = trial.result("requester").get("over_time")
    if not isinstance(over_time, dict) or not over_time.get("replies"):
        return []
    width_s = over_time["interval_ns"] / 1e9
    steps = enumerate(zip(over_time["mean_ns"], over_time["replies"], strict=True))
    return [
        ((place + 0.5) * width_s, float(mean_ns), int(replies))
        for place, (mean_ns, replies) in steps
        if replies
    ]


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
    "retransmissions": (
        Axis("segments sent again", ""),
        {"sent again": lambda sample: float(sample.retransmitted_segments)},
    ),
}


def tcp_over_time(data: FigureData) -> Chart:
    """The quantity that the figure's name has between `tcp_` and `_over_time`."""
    name = data.figure.figure.removeprefix("tcp_").removesuffix("_over_time")
    axis, lines = _VIEWS[name]
    own = [trial for trial in data.drawn_trials if samples_of(trial)]
    samples = samples_of(own[0]) if own else []
    back = samples_of(own[0], REVERSE_SENDER) if own else []
    series = [
        Series(
            name,
            tuple(Point(one.at_ns / 1e9, value(one), condition=name) for one in taken),
            kind="bound",
        )
        for taken, suffix in ((samples, ""), *([(back, ", second direction")] if back else []))
        for line, value in lines.items()
        for name in (f"{line}{suffix}",)
    ]
    # Omit lines of nothing: the kernel does not report the value, or no segment was sent again.
    series = _of_several(one for one in series if any(point.y for point in one.points))
    parts = limited_parts(samples, segment_bytes_of(own[0])) if own else []
    bands = tuple(Band(part.by, part.start_ns / 1e9, part.end_ns / 1e9) for part in parts)
    said = "What the sender's kernel knew (TCP_INFO)"
    if own:
        words = data.called(own[0].factors)
        said += f" in trial {own[0].number}{f' ({words})' if words else ''}"
        said += " of its first flow" * (int(own[0].parameters.get("flows", 1)) > 1)
    said += "."
    whose = "the sender of the first direction" if back else "the sender"
    if bands:
        shaded = f" Shaded: what limited {whose}"
        said += f"{shaded}, where it was not the network or its congestion window."
    return data.chart(
        TIME,
        axis,
        series,
        said,
        drawn="Samples of one trial are not independent of each other.",
        bands=bands,
        empty="no samples other than 0 of its TCP connections are in the store",
    )


_WAYS = {RECEIVER: "first to second host", REVERSE_RECEIVER: "second to first host"}
