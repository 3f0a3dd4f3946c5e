"""Worlds computed side by side: results by request, engines that are lost, and the end."""

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from waiting import await_end, until

from lanlab.engine import Engine, engine_path
from lanlab.errors import EngineError, EngineLost
from lanlab.testbeds.worlds import Worlds


def request(seed: int, requests: int = 20) -> dict[str, Any]:
    """An echo between two machines; each world of it has its own random costs."""
    machine = {"send_call": {"each_ns": 30_000}, "jitter_ratio": 0.2}
    return {
        "type": "simulate",
        "seed": seed,
        "world": {
            "medium": {"topology": "cable", "rate_bps": 100_000_000},
            "machines": [machine, machine],
        },
        "work": {
            "workload": "echo",
            "ip_version": 4,
            "spec": {
                "transport": "udp",
                "message_size_bytes": 64,
                "amount": {"requests": requests},
                "timeout_ns": 1_000_000_000,
                "warmup_ns": 0,
                "silence_ns": 1_000_000_000,
            },
        },
    }


ENDLESS = 1 << 32


@pytest.fixture
def worlds() -> Iterator[Worlds]:
    opened = Worlds(lambda: Engine("simulator", [engine_path()]), 2)
    yield opened
    opened.close()


def test_results_match_their_requests(worlds: Worlds) -> None:
    plain = [worlds.result(request(seed)) for seed in range(4)]
    assert len({str(result) for result in plain}) == 4
    worlds.expect([request(seed) for seed in range(4)])
    assert [worlds.result(request(seed)) for seed in (3, 1)] == [plain[3], plain[1]]
    # What is expected no more is computed again when it is asked for all the same.
    worlds.expect([request(0)])
    assert [worlds.result(request(seed)) for seed in (2, 0)] == [plain[2], plain[0]]


def test_a_refused_request_or_lost_engine_fails_only_its_own_world(
    worlds: Worlds,
) -> None:
    plain = worlds.result(request(1))
    worlds.expect([request(2, requests=0), request(1)])
    with pytest.raises(EngineError, match=r"amount\.requests"):
        worlds.result(request(2, requests=0))
    assert worlds.result(request(1)) == plain
    worlds.expect([request(3, ENDLESS)])
    engines = list(worlds._engines)
    killers = [threading.Timer(0.2, os.kill, [one.pid, signal.SIGKILL]) for one in engines]
    for killer in killers:
        killer.start()
    with pytest.raises(EngineLost):
        worlds.result(request(3, ENDLESS))
    for killer in killers:
        killer.join()
    # One that nothing was asked of is known to be lost a moment later.
    until(lambda: all(one.is_lost for one in engines), "their loss to be known")
    assert [worlds.result(request(1)) for _ in range(3)] == [plain] * 3


def test_closing_ends_running_worlds() -> None:
    opened = Worlds(lambda: Engine("simulator", [engine_path()]), 2)
    opened.expect([request(1, ENDLESS), request(2, ENDLESS), request(3, ENDLESS)])
    plain = Worlds(lambda: Engine("simulator", [engine_path()]), 2)
    plain.result(request(1))
    engines = [engine.pid for each in (opened, plain) for engine in each._engines]
    assert len(engines) >= 2
    for each in (opened, plain):
        each.close()
        each.close()
    await_end(engines)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("world")]
