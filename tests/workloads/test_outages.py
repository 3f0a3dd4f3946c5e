"""A path that is gone for a while: TCP gets over it, and the answer tells of it."""

import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from programs import ran
from trial_running import Pair, finished, opened_pair

from lanlab.errors import EngineError
from lanlab.testbeds.tools import tool
from lanlab.workloads import Progress, TrialOutcome

TCP = {"transport": "tcp", "message_size_bytes": 10_000, "rate_bps": "5M"}


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with opened_pair("virtual", "100M") as opened:
        yield opened


def interrupted(pair: Pair, for_s: float, **parameters: Any) -> TrialOutcome:
    """A stream within which the first host's frames go to an adapter that is not there."""
    first, second = pair.bed.hosts
    ip = [*first.command_prefix, tool("ip"), "neigh"]
    address = second.addresses["ipv4"]
    shown = ran([*ip, "show", address], check=True)
    words = shown.stdout.split()
    device, adapter = (words[words.index(word) + 1] for word in ("dev", "lladdr"))

    begun = threading.Event()

    def run() -> None:
        begun.wait()
        for lladdr in ("02:00:00:00:00:fe", adapter):
            changed = ["replace", address, "lladdr", lladdr, "dev", device, "nud", "permanent"]
            subprocess.run([*ip, *changed], check=True)
            time.sleep(for_s)

    def notice(progress: Progress) -> None:
        if progress.elapsed_s > 0.5:
            begun.set()

    thread = threading.Thread(target=run)
    thread.start()
    exchange = pair.exchange("stream", notice, **parameters)
    thread.join()
    return exchange


def test_an_outage_within_the_idle_timeout_is_survived_and_reported(pair: Pair) -> None:
    asked = {**TCP, "time_s": 4, "silence_s": 2}
    metrics = finished(interrupted(pair, 1.0, **asked), "stream", **asked).metrics
    # TCP tries again after waits that double, and a busy receiver reads late what came before.
    assert metrics["outage_ns"] >= 0.4e9
    assert metrics["outage_from_ns"] >= 0.4e9
    assert metrics["rate_outside_outage_bps"] > 1.2 * metrics["goodput_bps"]


def test_a_longer_one_ends_the_trial_and_the_option_is_named(pair: Pair) -> None:
    error = interrupted(pair, 3.0, **TCP, time_s=4, silence_s=0.3).error
    assert isinstance(error, EngineError)
    assert error.code == "peer.gone"
    assert "--idle-timeout" in (error.hint or "")


def test_a_stream_without_an_outage_tells_of_none(pair: Pair) -> None:
    exchange = pair.exchange("stream", **TCP, time_s=2)
    assert "outage_ns" not in finished(exchange, "stream", **TCP, time_s=2).metrics
