"""
The conditions of a soak: drawn at random from a seed, as a study that `lanlab.run` runs.

Each is an experiment of its own with one condition, so that it can have any mixture of parameters.
Some ask for what an engine must refuse: a trial that fails before it begins has to be cleaned up
like any other.
"""

from __future__ import annotations

import math
import random
from typing import Any

from lanlab.studies.model import Study

#: Different conditions of a soak. A plan keeps a few numbers of each condition that has run; after
#: so many trials it has all of them, and nothing is left that may grow.
CONDITIONS = 80

#: Of all conditions, those that no engine can carry out.
_REFUSED_RATIO = 0.06

LARGEST_MESSAGE_BYTES = 60_000
MOST_FLOWS = 200
#: Of trials that have an amount, not a time: no trial is to take much longer than another.
_MOST_BYTES = 1_000_000

#: An end that hears nothing for so long gives its peer up.
SILENCE_S = 0.5


def _log_uniform(draw: random.Random, low: int, high: int) -> int:
    """A whole number in `low` … `high`; each factor of ten as often as the next."""
    return min(high, round(math.exp(draw.uniform(math.log(low), math.log(high)))))


def _common(draw: random.Random, ip_versions: tuple[int, ...]) -> dict[str, Any]:
    return {
        "transport": draw.choice(("udp", "tcp")),
        "ip_version": draw.choice(ip_versions),
        "message_size_bytes": _log_uniform(draw, 1, LARGEST_MESSAGE_BYTES),
        "warmup_s": draw.choice((0.0, 0.05)),
        "receive": draw.choice(("block", "poll", "spin", "auto")),
        "silence_s": SILENCE_S,
    }


def _stream(draw: random.Random, ip_versions: tuple[int, ...], shaped: bool) -> dict[str, Any]:
    parameters = _common(draw, ip_versions)
    udp = parameters["transport"] == "udp"
    # A shaper charges a buffer of several messages as one: refused before the run starts.
    joined = ("segment",) if udp and not shaped else ()
    parameters |= {
        "io": draw.choice(("single", "batch", "auto", *joined)),
        "flows": draw.choice((1, 1, 2, _log_uniform(draw, 3, MOST_FLOWS))),
        "interval_s": draw.choice((0.01, 0.1)),
    }
    if udp:
        parameters["drain_s"] = 0.1
    messages = max(1, _MOST_BYTES // parameters["message_size_bytes"] // parameters["flows"])
    parameters |= draw.choice(
        (
            {"time_s": draw.choice((0.1, 0.3))},
            {"messages": _log_uniform(draw, 1, min(messages, 2_000))},
            {"time_s": 0.2, "rate_bps": _log_uniform(draw, 100_000, 50_000_000)},
            {
                "time_s": 0.2,
                "rate_messages_per_s": float(_log_uniform(draw, 100, 20_000)),
                "when_late": "skip",
            },
        )
    )
    if udp and not parameters.keys() & {"rate_bps", "rate_messages_per_s"}:
        parameters["timestamps"] = draw.choice(("program", "kernel"))
    if not udp and "rate_messages_per_s" in parameters:
        # Not more than a link of 100 Mbit/s carries: what waits in the buffers of all flows would
        # take longer to arrive than an end is allowed to be silent.
        most = _MOST_BYTES * 8 / parameters["message_size_bytes"] / parameters["flows"]
        parameters["rate_messages_per_s"] = max(1.0, min(parameters["rate_messages_per_s"], most))
    if udp and draw.random() < 0.2:
        # A receiver that cannot keep up: its socket buffer overflows, and messages are lost.
        # Of few flows: more, and it is too late to answer within the silence that is allowed.
        parameters |= {"receive_buffer_bytes": 4_096, "receiver_work_s": 0.001}
        parameters["flows"] = min(parameters["flows"], 4)
    return parameters


def _echo(draw: random.Random, ip_versions: tuple[int, ...]) -> dict[str, Any]:
    parameters = _common(draw, ip_versions) | {"timeout_s": 0.2}
    parameters |= draw.choice(
        (
            {"time_s": 0.2},
            {"time_s": 0.2, "rate_requests_per_s": float(_log_uniform(draw, 50, 2_000))},
            {"requests": _log_uniform(draw, 1, 100)},
        )
    )
    if parameters["transport"] == "udp" and "rate_requests_per_s" not in parameters:
        parameters["timestamps"] = draw.choice(("program", "kernel"))
    return parameters


#: Slower than the engine takes: it allows 0.001 a second and more.
_TOO_SLOW_PER_S = 0.0004
#: What does not go with a rate, or would make a trial of such a rate last for days.
_NOT_BESIDE_IT = ("rate_bps", "messages", "requests", "when_late", "timestamps")


def _refused(workload: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Allowed in a study file, and refused by the engine."""
    rate = "rate_messages_per_s" if workload == "stream" else "rate_requests_per_s"
    kept = {key: value for key, value in parameters.items() if key not in _NOT_BESIDE_IT}
    return {**kept, "time_s": 0.2, rate: _TOO_SLOW_PER_S}


def is_refused(parameters: dict[str, Any]) -> bool:
    """Whether a condition was drawn to be refused."""
    rates = ("rate_messages_per_s", "rate_requests_per_s")
    return any(parameters.get(rate) == _TOO_SLOW_PER_S for rate in rates)


def soak_study(
    seed: int, *, ip_versions: tuple[int, ...], link: str, conditions: int = CONDITIONS
) -> Study:
    """
    A study of conditions drawn at random.

    Args:
        seed: Two studies of one seed are equal.
        ip_versions: Those that the testbed has, of 4 and 6.
        link: As `lanlab.testbeds` reads it.
        conditions: How many.
    """
    draw = random.Random(seed)
    experiments = []
    for number in range(conditions):
        if draw.random() < 0.6:
            workload, metric = "stream", "goodput_bps"
            parameters = _stream(draw, ip_versions, shaped=link != "unshaped")
        else:
            workload, metric = "echo", "rtt_mean_ns"
            parameters = _echo(draw, ip_versions)
        if draw.random() < _REFUSED_RATIO:
            parameters = _refused(workload, parameters)
        experiments.append(
            {
                "id": f"mixed-{number}",
                "title": f"mixed conditions, number {number}",
                "workload": workload,
                "metrics": [metric],
                "parameters": parameters,
            }
        )
    return Study.model_validate(
        {
            "schema": 1,
            "id": "soak",
            "title": "Soak: mixed conditions for a stated time",
            "question": "Does anything grow?",
            "testbed": {"hosts": 2, "link": link},
            "experiment": experiments,
            # A block has each condition once. Disturbed trials are not repeated: what is kept of
            # them until the end of the block would be growth.
            "scale": {"soak": {"trials": {"min": 10_000, "max": 10_000, "repeat_polluted": 0}}},
        }
    )
