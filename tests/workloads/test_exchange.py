"""One trial between two engines, when it goes wrong."""

import itertools
import os
import re
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pytest
from trial_running import Pair

from lanlab.engine import Engine, Measurement
from lanlab.errors import EngineError, EngineLost, UnknownName
from lanlab.performers import EngineHost, perform_between
from lanlab.performers.engines import conduct
from lanlab.workloads import WORKLOADS, Progress, TrialOutcome, workload
from lanlab.workloads.steps import Before, Part, Stage, TwoEnds
from lanlab.workloads.stream.parameters import StreamParameters


def with_requests(
    pair: Pair, change: Callable[[dict[str, Any]], dict[str, Any]], **parameters: Any
) -> TrialOutcome:
    """Run a stream whose requests are changed on their way to the engines."""

    class Changing:
        def __init__(self, engine: Engine) -> None:
            self._engine = engine

        def start(self, request: Mapping[str, object], **options: Any) -> Measurement:
            return self._engine.start(change(dict(request)), **options)

        def __getattr__(self, name: str) -> object:
            return getattr(self._engine, name)

    ends = [
        EngineHost(cast("Engine", Changing(end.engine)), end.address, end.boot_id)
        for end in (pair.end(0), pair.end(1))
    ]
    condition = StreamParameters.model_validate(
        {"messages": 10, "rate_messages_per_s": 1000, "warmup_s": 0, **parameters}
    )
    return perform_between(workload("stream"), condition, ends[0], ends[1], 0.05)


def test_a_trial_record_states_how_the_trial_began(pair: Pair) -> None:
    trial = pair.trial("stream", messages=10, rate_messages_per_s=1000)
    setup = trial.exchange.setup
    requests = setup["requests"]
    assert requests["receiver"]["type"] == "stream_receive"
    assert requests["sender"]["type"] == "stream_send"
    assert "session" not in requests["receiver"] | requests["sender"]
    assert setup["setup_round_trip_ns"] > 0
    assert setup["start_attempts"] >= 1
    start = setup["start"]
    assert start["shared_clock"] == (pair.end(0).boot_id is not None)
    assert len(start["margins_ns"]) == 2
    assert all(margin_ns > 0 for margin_ns in start["margins_ns"])


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.figures
def test_both_ends_start_at_the_time_sent_ahead(pair: Pair, transport: str) -> None:
    skews_ns = []
    for _ in range(3):
        trial = pair.trial("stream", transport=transport, messages=10, rate_messages_per_s=1000)
        skews_ns.append(trial.metrics["start_skew_ns"])
    assert all(skew_ns >= 0 for skew_ns in skews_ns)
    # The best of a few: a busy machine may wake a thread late.
    assert min(skews_ns) < 1_000_000


def test_a_late_start_is_retried(pair: Pair) -> None:
    condition = StreamParameters.model_validate(
        {"messages": 10, "rate_messages_per_s": 1000, "warmup_s": 0}
    )
    source, target = pair.end(0), pair.end(1)
    exchange = perform_between(workload("stream"), condition, source, target, -0.05)
    assert isinstance(exchange.error, EngineError)
    assert exchange.error.code == "arm.late"
    assert exchange.setup["start_attempts"] == 5

    late = _Late(pair.end(1).engine)
    hears_late = EngineHost(cast("Engine", late), target.address, target.boot_id)
    exchange = perform_between(workload("stream"), condition, source, hears_late, 0.05)
    assert exchange.error is None
    # A busy machine may be late besides.
    assert exchange.setup["start_attempts"] >= 2
    assert exchange.setup["start"]["lead_s"] >= 0.2
    # Nothing of the first attempt is left in either engine.
    for engine in pair.engines:
        with pytest.raises(EngineError, match="is running"):
            engine.ask({"type": "cancel", "target": 1})


def test_a_sender_that_missed_its_whole_time_begins_again(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    paced = {"amount": {"time_ns": 50}, "transport": "udp", "rate": {"per_s": 1}}
    free, tcp = {**paced, "rate": None}, {**paced, "rate": None, "transport": "tcp"}
    for spec, sent, late_ns, refused, is_missed in (
        (paced, 0, 26, 0, True),
        (paced, 0, 25, 0, False),
        (paced, 1, 99, 0, False),
        (free, 0, 0, 0, True),
        (free, 0, 0, 7, False),
        (free, 1, 0, 0, False),
        (tcp, 0, 0, 0, False),
    ):
        steps = TwoEnds(("sender", "receiver"), {}, {"spec": spec}, longest_s=1)
        counts = {"sent_messages": sent, "refused_messages": refused, "unsent_messages": 0}
        results = {"sender": {**counts, "start_skew_ns": late_ns}}
        assert steps.missed_their_time(results) is is_missed, (spec, counts, late_ns)
    told = iter((True, False))
    monkeypatch.setattr(TwoEnds, "missed_their_time", lambda self, results: next(told))
    exchange = pair.trial("stream", messages=10, rate_messages_per_s=1000).exchange
    assert exchange.error is None
    # A busy machine may be late besides.
    assert exchange.setup["start_attempts"] >= 2 and next(told, None) is None
    assert exchange.results["sender"]["total_messages"] >= 10


class _Late:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._armed = 0

    def ask(self, request: Mapping[str, object], *within_s: float) -> dict[str, Any]:
        if request["type"] == "arm":
            self._armed += 1
            if self._armed == 1:
                request = {**request, "at_ns": 1}
        return self._engine.ask(request, *within_s)

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)


def test_a_refused_request_ends_the_trial_at_once(pair: Pair) -> None:
    for wrong in ("stream_receive", "stream_send"):

        def change(request: dict[str, Any], wrong: str = wrong) -> dict[str, Any]:
            if request["type"] == wrong:
                request["session"] = "none"
            return request

        exchange = with_requests(pair, change)
        assert isinstance(exchange.error, EngineError)
        assert exchange.error.code == "request.value"
        for engine in pair.engines:
            assert engine.ask({"type": "ping"})["kind"] == "pong"
    # And the next trial finds both engines free.
    assert pair.trial("stream", messages=10, rate_messages_per_s=1000).metrics["lost_messages"] == 0


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("killed", [0, 1], ids=["source", "target"])
@pytest.mark.parametrize("name", ["stream", "echo"])
def test_after_a_killed_engine_the_trial_keeps_the_other_ends_counts(
    pair: Pair, name: str, killed: int
) -> None:
    begun = threading.Event()

    def on_progress(_: Progress) -> None:
        if not begun.is_set():
            begun.set()
            os.kill(pair.engines[killed].pid, signal.SIGKILL)

    rate = "rate_messages_per_s" if name == "stream" else "rate_requests_per_s"
    # An echo may be silent three time-outs long.
    short: dict[str, Any] = {"timeout_s": 0.5} if name == "echo" else {}
    exchange = pair.exchange(name, on_progress, time_s=900, silence_s=1.5, **{rate: 100.0}, **short)
    assert begun.is_set()
    assert exchange.error is not None
    if isinstance(exchange.error, EngineLost):
        assert f"host{killed}: the engine was ended by signal 9" in exchange.error.message
    else:
        assert isinstance(exchange.error, EngineError)
        assert exchange.error.code == "peer.gone"
    left = exchange.results[WORKLOADS[name].roles[1 - killed]]
    counts = ("total_messages", "answered_messages", "replies")
    assert any(left.get(count, 0) > 0 for count in counts)
    assert pair.engines[killed].is_lost
    assert not pair.engines[1 - killed].is_lost


def test_an_interrupted_trial_leaves_the_engines_free(pair: Pair) -> None:
    class Interrupted(TwoEnds):
        def timed(self, stage: Stage) -> Sequence[Sequence[Part]]:
            listening, (connecting,) = super().timed(stage)

            def interrupt(before: Before) -> dict[str, Any]:
                raise KeyboardInterrupt

            return [listening, [Part(connecting.role, interrupt)]]

    requests: list[dict[str, Any]] = []

    def change(request: dict[str, Any]) -> dict[str, Any]:
        requests.append(request)
        return request

    assert with_requests(pair, change).error is None
    source, target = pair.end(0), pair.end(1)
    steps = Interrupted(("sender", "receiver"), requests[0], requests[1], longest_s=2)
    with pytest.raises(KeyboardInterrupt):
        conduct(steps, {"sender": [source], "receiver": [target]}, 0.05)
    with pytest.raises(EngineError, match="is running"):
        target.engine.ask({"type": "cancel", "target": 1})
    assert pair.trial("stream", messages=10, rate_messages_per_s=1000).metrics["lost_messages"] == 0


def test_engines_on_unlike_clocks_start_together_all_the_same(pair: Pair) -> None:
    source, target = pair.end(0), pair.end(1)
    condition = StreamParameters.model_validate(
        {"messages": 10, "rate_messages_per_s": 1000, "warmup_s": 0}
    )
    exchange = perform_between(
        workload("stream"),
        condition,
        EngineHost(source.engine, source.address, "one boot"),
        EngineHost(target.engine, target.address, "another"),
        0.1,
    )
    assert exchange.error is None
    assert not exchange.setup["start"]["shared_clock"]
    assert exchange.setup["start"]["clock_error_ns"] > 0


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("stream", {"messages": 100, "rate_messages_per_s": 5000, "warmup_s": 0.01}),
        ("stream", {"messages": 50, "rate_bps": 5_000_000}),
        ("stream", {"transport": "tcp", "bytes": 1_000_000}),
        ("echo", {"requests": 50}),
        ("echo", {"transport": "tcp", "requests": 25, "rate_requests_per_s": 500}),
    ],
    ids=str,
)
def test_every_applicable_metric_of_a_workload_is_reported(
    pair: Pair, name: str, parameters: dict[str, Any]
) -> None:
    metrics = pair.trial(name, **parameters).metrics
    # A percentile takes enough values.
    absent = {key for key in WORKLOADS[name].metrics if not re.search(r"_p\d+_", key)} - set(
        metrics
    )
    is_tcp = parameters.get("transport") == "tcp"
    beginnings = (
        # Of several flows, of clocks whose relation is known, and of what a system may not tell.
        ("jain", "first_control", "flow_", "one_way_", "clock_error", "interrupt", "kernel_"),
        ("lost_sender_queue", "lost_backlog", "lost_socket_buffer", "gap_"),
        # Of a path that was down for a while.
        ("outage_", "rate_outside_outage"),
        # Of a medium.
        ("lost_adapter_queue", "lost_chance", "lost_collisions", "lost_switch_queue"),
        () if any(key.startswith("rate_") for key in parameters) else ("back_to_back",),
        ("duplicate", "reordered", "delay_variation", "lost_link", "lost_late") if is_tcp else (),
        # Of the second direction, where there is one, and of a program at the other end.
        ("reverse_", "acknowledged_", "returned_", "peer_", "total_", "stack_"),
        () if is_tcp else ("retransmitted", "messages_per_segment", "bytes_per_segment"),
    )
    assert all(key.startswith(tuple(itertools.chain(*beginnings))) for key in absent), absent
    assert all(isinstance(value, (int, float)) and value == value for value in metrics.values())


def test_an_unknown_workload_offers_the_closest() -> None:
    with pytest.raises(UnknownName, match="no workload named `streem`") as caught:
        workload("streem")
    assert caught.value.hint == "did you mean `stream`?"
