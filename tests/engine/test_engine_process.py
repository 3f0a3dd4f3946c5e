"""The Python side of the conversation, with engines and with what is none."""

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from raw_engine import stream_receive, stream_send

from lanlab.engine import SCHEMA_VERSION, Engine, engine_path
from lanlab.errors import EngineError, EngineLost, UnmetNeed


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine("host0", [engine_path()]) as started:
        yield started


def fake(tmp_path: Path, body: str) -> list[str]:
    script = tmp_path / "fake.py"
    script.write_text(f"import json, os, signal, sys, time\n{body}\n")
    return [sys.executable, str(script)]


HELLO = (
    'can = dict.fromkeys(["batch", "segment", "local_drop_reports", "tcp_info", "thread_usage", '
    '"socket_drop_reports", "kernel_timestamps", "processor_binding"], False)\n'
    'print(json.dumps({"type": "hello", "schema_version": VERSION, "engine_version": "0", '
    '"pid": 1, "capabilities": can, "progress_interval_ns": 1, "max_line_bytes": 65536}), '
    "flush=True)\n"
)
WAIT = "sys.stdin.read()"


@pytest.mark.parametrize("version", ["0", "1", "2", "None", '"new"'])
def test_another_version_of_the_messages_is_refused(tmp_path: Path, version: str) -> None:
    command = fake(tmp_path, HELLO.replace("VERSION", version) + WAIT)
    with pytest.raises(EngineLost, match=f"lanlab uses version {SCHEMA_VERSION}") as caught:
        Engine("host7", command)
    found = version.strip('"')
    assert f"host7: the engine uses message version {found}" in caught.value.message
    assert caught.value.hint == "install lanlab and lanlab-engine of the same version"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("sys.exit(3)", "host7: the engine ended with exit code 3"),
        (
            'print("cannot open shared object", file=sys.stderr); sys.exit(127)',
            "host7: the engine ended with exit code 127: cannot open shared object",
        ),
        ("os.kill(os.getpid(), signal.SIGKILL)", "host7: the engine was ended by signal 9"),
        ('print("Welcome to host7!", flush=True)', "host7: the engine ended with exit code 0"),
        ("os.write(1, bytes([255, 254, 10]))", "host7: the engine ended with exit code 0"),
        ('print("5", flush=True)', "host7: the engine ended with exit code 0"),
    ],
    ids=["ends", "ends with a word", "killed", "greets", "garbage", "a number"],
)
def test_a_program_that_is_not_an_engine_is_reported(tmp_path: Path, body: str, says: str) -> None:
    with pytest.raises(EngineLost, match=re.escape(says)):
        Engine("host7", fake(tmp_path, body))


def test_garbage_in_mid_conversation_loses_the_engine(tmp_path: Path) -> None:
    body = (
        HELLO.replace("VERSION", str(SCHEMA_VERSION))
        + "sys.stdin.readline()\nos.write(1, bytes([255, 10]))\n"
    )
    with Engine("host7", fake(tmp_path, body + WAIT)) as engine:
        with pytest.raises(EngineLost, match="host7: the engine"):
            engine.describe()
        assert engine.is_lost


def test_an_engine_that_cannot_be_started_is_named() -> None:
    with pytest.raises(EngineLost, match=r"host7: cannot start `/no/engine`: No such file"):
        Engine("host7", ["/no/engine"])


def test_a_killed_engine_is_lost(engine: Engine) -> None:
    receiving = engine.start(stream_receive())
    receiving.wait_ready(10)
    os.kill(engine.pid, signal.SIGKILL)
    with pytest.raises(EngineLost, match="host0: the engine was ended by signal 9"):
        receiving.result(10)
    with pytest.raises(EngineLost, match="signal 9"):
        engine.describe()
    assert engine.is_lost


def test_a_closed_engine_accepts_no_requests() -> None:
    with Engine("host0", [engine_path()]) as engine:
        engine.close()
        with pytest.raises(EngineLost):
            engine.describe()


def test_an_engine_that_does_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lanlab.engine.process._END_S", 0.1)
    body = HELLO.replace("VERSION", str(SCHEMA_VERSION)) + "sys.stdin.read()\ntime.sleep(600)"
    with Engine("host0", fake(tmp_path, body)) as engine:
        pid = engine.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_an_error_has_code_hint_and_partial(engine: Engine) -> None:
    with pytest.raises(EngineError, match="host0: `flows`: found 0; allowed: 1 to 1000") as caught:
        engine.ask(stream_receive(flows=0))
    assert (caught.value.code, caught.value.partial) == ("request.value", None)

    spec: dict[str, Any] = {"amount": {"time_ns": 60_000_000_000}}
    receiving = engine.start(stream_receive(**spec))
    sending = engine.start(stream_send(receiving.wait_ready(10)["ports"], **spec))
    sending.wait_ready(10)
    now_ns = engine.ask({"type": "ping"})["monotonic_ns"]
    progressed = threading.Event()
    lines: list[dict[str, Any]] = []

    def on_progress(line: dict[str, Any]) -> None:
        lines.append(line)
        progressed.set()

    receiving.on_progress = on_progress
    for measurement in (receiving, sending):
        engine.ask({"type": "arm", "target": measurement.id, "at_ns": now_ns + 200_000_000})
    assert progressed.wait(10)
    assert lines[0]["id"] == receiving.id
    engine.ask({"type": "cancel", "target": receiving.id})
    with pytest.raises(EngineError, match="at the driver's request") as caught:
        receiving.result(10)
    assert caught.value.code == "cancelled"
    assert caught.value.partial is not None
    assert caught.value.partial["kind"] == "stream_received"
    assert receiving.is_over


def test_a_missing_reply_is_an_error(engine: Engine) -> None:
    receiving = engine.start(stream_receive())
    receiving.wait_ready(10)
    with pytest.raises(EngineLost, match="host0: no answer within 0 s"):
        receiving.result(0.01)


def test_the_clock_of_this_machine_has_no_offset(engine: Engine) -> None:
    offset_ns, error_ns = engine.clock_offset(16)
    assert abs(offset_ns) <= error_ns


def test_a_description_names_this_machine(engine: Engine) -> None:
    facts = engine.describe()
    assert facts["processors"] >= 1
    assert facts["kernel"] == os.uname().release
    assert facts["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert "UdpInDatagrams" in facts["udp_counters"]


def test_the_engine_named_by_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    here = engine_path()
    monkeypatch.setenv("LANLAB_ENGINE", here)
    assert engine_path() == here
    monkeypatch.setenv("LANLAB_ENGINE", __file__)
    with pytest.raises(UnmetNeed, match="LANLAB_ENGINE names") as caught:
        engine_path()
    assert caught.value.hint == "name the engine binary, or unset it"


def test_without_an_engine_the_error_explains_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("LANLAB_ENGINE", raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnmetNeed, match="need `lanlab-engine`") as caught:
        engine_path()
    assert "pip install lanlab-engine" in str(caught.value.hint)


def test_an_unresponsive_engine_is_ended(engine: Engine) -> None:
    os.kill(engine.pid, signal.SIGSTOP)

    with pytest.raises(EngineLost) as silent:
        engine.ask({"type": "describe"}, within_s=0.3)
    with pytest.raises(EngineLost) as again:
        engine.ask({"type": "describe"})

    expected = "host0: the engine did not answer within 0.3 s and was ended"
    assert (silent.value.message, again.value.message) == (expected, expected)
    assert engine.is_lost and silent.value.host == "host0"


def test_a_killed_engine_is_not_reported_as_silent(engine: Engine) -> None:
    os.kill(engine.pid, signal.SIGKILL)

    lost = engine.give_up(5.0)

    assert lost.message == "host0: the engine was ended by signal 9"


def test_the_end_of_a_measurement_wakes_its_waiters(engine: Engine) -> None:
    told: list[str] = []
    receiving = engine.start(stream_receive())
    receiving.on_over = lambda: told.append("over")
    receiving.wait_ready(10)
    assert told == []

    os.kill(engine.pid, signal.SIGKILL)
    with pytest.raises(EngineLost):
        receiving.result(10)

    assert told == ["over"]
