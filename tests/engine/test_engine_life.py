"""How engines end: with their driver, with their peer, and never otherwise."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from programs import begun
from raw_engine import Line, RawEngine, run_echo, run_stream
from waiting import await_end

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals")

#: Long beyond any test.
FOR_EVER: Line = {"amount": {"time_ns": 3_600_000_000_000}}
SILENCE_S = 5.0


def lasting(workload: str, transport: str, silence_s: float) -> Line:
    """A specification without an end, and with a silence after which a peer is given up."""
    spec: Line = {"transport": transport, "silence_ns": round(silence_s * 1e9), **FOR_EVER}
    # An echo may be silent three time-outs long.
    return spec | ({"timeout_ns": round(silence_s * 1e9 / 3)} if workload == "echo" else {})


RUNS: dict[str, Callable[..., tuple[int, int]]] = {"stream": run_stream, "echo": run_echo}


@pytest.mark.parametrize(("workload", "transport"), list(product(RUNS, ("udp", "tcp"))))
@pytest.mark.parametrize("side", [0, 1], ids=["listener", "connector"])
def test_an_engine_whose_input_closes_ends_with_its_traffic(
    workload: str, transport: str, side: int
) -> None:
    with RawEngine() as target, RawEngine() as source:
        ids = RUNS[workload](target, source, **lasting(workload, transport, 1.5))
        engines = (target, source)
        for engine, request_id in zip(engines, ids, strict=True):
            engine.wait(request_id, "progress")
        driver_end = engines[side].process.stdin
        assert driver_end is not None
        driver_end.close()
        assert engines[side].process.wait(timeout=60) == 0
        # The other hears no more of it: what was under way has ended.
        other = 1 - side
        line = engines[other].wait(ids[other])
        assert line["type"] == "result" or line["code"] == "peer.gone"
        assert engines[other].is_usable()


@dataclass
class Parted:
    """A pair of engines of which one was killed or stopped, as seen by the other."""

    line: Line
    usable: bool


KEYS = list(product(("kill", "stop"), RUNS, ("udp", "tcp"), ("listener", "connector")))


@pytest.fixture(scope="module")
def parted() -> Iterator[dict[tuple[str, str, str, str], Parted]]:
    """Every case at once, for each takes a silence: signal, workload, transport, who is hit."""
    found = {}
    with ExitStack() as stack:
        pairs = {}
        for key in KEYS:
            how, workload, transport, hit = key
            spec = lasting(workload, transport, SILENCE_S)
            if workload == "echo":
                spec |= {"rate_requests_per_s": 100.0}
            elif (how, transport, hit) == ("stop", "tcp", "listener"):
                # A stopped receiver's system goes on receiving: it must be filled to be noticed.
                spec |= {"rate": None, "message_size_bytes": 65_536}
            else:
                spec |= {"rate": {"messages_per_s": 100.0}}
            engines = [stack.enter_context(RawEngine()) for _ in range(2)]
            pairs[key] = (engines, RUNS[workload](*engines, **spec))
        for key, (engines, ids) in pairs.items():
            for engine, request_id in zip(engines, ids, strict=True):
                engine.wait(request_id, "progress")
            number = signal.SIGKILL if key[0] == "kill" else signal.SIGSTOP
            engines[int(key[3] == "connector")].process.send_signal(number)
        for key, (engines, ids) in pairs.items():
            victim = int(key[3] == "connector")
            survivor = engines[1 - victim]
            line = survivor.wait(ids[1 - victim])
            found[key] = Parted(line, survivor.is_usable())
            # A stopped process ends by this and by nothing else.
            engines[victim].process.kill()
            engines[victim].process.wait()
        yield found


@pytest.mark.parametrize("key", KEYS, ids="-".join)
def test_a_killed_or_stopped_peer_is_noticed(
    parted: dict[tuple[str, str, str, str], Parted], key: tuple[str, str, str, str]
) -> None:
    case = parted[key]
    if key == ("kill", "echo", "tcp", "connector") and case.line["type"] == "result":
        # Its system closes the connection between two messages: as at the end of an echo.
        assert case.line["result"]["ended_by"] == "finished"
        return
    assert case.line["type"] == "error"
    assert case.line["code"] == "peer.gone"
    assert "its engine still runs" in case.line["hint"]
    partial = case.line["partial"]
    # Either end of a stream or of a schedule says something now and then, and so is told that a
    # port has closed.
    closed = key[0] == "kill"
    assert partial["ended_by"] == ("peer_closed" if closed else "silence")
    counts = ("total_messages", "answered_messages", "replies")
    assert any(partial.get(count, 0) > 0 for count in counts), partial
    assert case.usable


#: Starts two engines and a trial, says who they are, and waits to be killed.
DRIVER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from raw_engine import RawEngine, run_stream
target, source = RawEngine(), RawEngine()
ids = run_stream(target, source, amount={"time_ns": 3_600_000_000_000})
source.wait(ids[1], "progress")
print(json.dumps([target.process.pid, source.process.pid]), flush=True)
sys.stdin.readline()
"""


def test_engines_of_a_killed_driver_end() -> None:
    driver, said = begun([sys.executable, "-c", DRIVER, Path(__file__).parent])
    pids = json.loads(said)
    assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    driver.kill()
    driver.communicate()
    await_end(pids)


def test_an_engine_whose_output_nobody_reads_ends() -> None:
    with RawEngine() as engine:
        assert engine.is_usable()
    process = subprocess.Popen(engine.process.args, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdin is not None
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(b'{"id":1,"request":{"type":"ping"}}\n')
    process.stdin.flush()
    assert process.wait(timeout=10) == 1
    process.stdin.close()


@pytest.mark.figures
def test_an_engine_starts_quickly() -> None:
    times_s = []
    for _ in range(5):
        began = time.monotonic()
        with RawEngine():
            times_s.append(time.monotonic() - began)
    assert min(times_s) < 0.020
