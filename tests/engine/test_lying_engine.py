"""Whatever an engine says, lanlab keeps its memory, and ends in one clear error."""

import copy
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanlab.engine import SCHEMA_VERSION, Engine, engine_path
from lanlab.engine.lines import (
    MAX_LINE_BYTES,
    RESULT_KINDS,
    BadLine,
    bounded_lines,
    check_reply,
    read_line,
)
from lanlab.errors import EngineError, EngineLost

CAN = dict.fromkeys(
    (
        "batch",
        "segment",
        "local_drop_reports",
        "tcp_info",
        "thread_usage",
        "socket_drop_reports",
        "kernel_timestamps",
        "processor_binding",
    ),
    False,
)
HELLO = {
    "type": "hello",
    "schema_version": SCHEMA_VERSION,
    "engine_version": "0",
    "pid": 1,
    "capabilities": CAN,
    "progress_interval_ns": 1,
    "max_line_bytes": 65_536,
}
PONG = {"type": "result", "id": 1, "result": {"kind": "pong", "monotonic_ns": 1, "realtime_ns": 2}}


@pytest.fixture
def saying(tmp_path: Path) -> Iterator[Callable[[bytes], Engine]]:
    """Starts an engine that says `hello`, takes a line, and then says what it is told to."""
    started = []

    def start(octets: bytes) -> Engine:
        words = tmp_path / "words"
        words.write_bytes(octets)
        script = tmp_path / "engine.py"
        script.write_text(
            "import sys\n"
            f"sys.stdout.buffer.write({(json.dumps(HELLO) + chr(10)).encode()!r})\n"
            "sys.stdout.buffer.flush()\n"
            "sys.stdin.readline()\n"
            f"sys.stdout.buffer.write(open({str(words)!r}, 'rb').read())\n"
            "sys.stdout.buffer.flush()\n"
            "sys.stdin.read()\n"
        )
        engine = Engine("host7", [sys.executable, str(script)])
        started.append(engine)
        return engine

    yield start
    for engine in started:
        engine.close()


def line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def changed(**changes: Any) -> dict[str, Any]:
    return {**PONG, "result": {**PONG["result"], **changes}}  # type: ignore[dict-item]


LIES = {
    "no JSON": (b"Welcome!\n", "not JSON"),
    "another coding": (b"\xff\xfe\x00\n", "not JSON"),
    "a list": (b"[1]\n", "no object with a type"),
    "no type": (b"{}\n", "no object with a type"),
    "a type of its own": (line({"type": "dance", "id": 1}), "`type` is none of the allowed"),
    "deep": (b'{"type":"result","id":1,"result":' + 100_000 * b"[" + b"\n", "nested too deeply"),
    "NaN": (line(changed(realtime_ns=float("nan"))), "NaN, which is no number"),
    "infinite": (b'{"type":"progress","id":1e999}\n', "not finite"),
    "huge": (line(changed(realtime_ns=2**64)), "realtime_ns` is not between 0 and"),
    "very huge": (b'{"type":"progress","id":' + 100_000 * b"9" + b"}\n", "thousands of digits"),
    "negative": (line(changed(monotonic_ns=-1)), r"`result\.monotonic_ns` is not between 0 and"),
    "a text": (line(changed(realtime_ns="2")), r"`result\.realtime_ns` is no whole number"),
    "a truth": (line(changed(realtime_ns=True)), "is no whole number"),
    "missing": (
        line({"type": "result", "id": 1, "result": {"kind": "pong"}}),
        "is missing",
    ),
    "no id": (line({"type": "result", "result": PONG["result"]}), "`id` is missing"),
    "no kind": (
        line({"type": "result", "id": 1, "result": {}}),
        r"`result\.kind` is none",
    ),
    "no result": (
        line({"type": "result", "id": 1, "result": 7}),
        r"`result\.kind` is none",
    ),
    "a kind of its own": (line(changed(kind="dance")), r"`result\.kind` is none of"),
    "half a part": (
        line({"type": "error", "id": 1, "code": "a", "message": "b", "partial": {"kind": "pong"}}),
        r"`partial\.\w+` is missing",
    ),
    "hello again": (line(HELLO), "a second `hello`"),
    "endless": (b"x" * (MAX_LINE_BYTES + 10), "a line of more than 2097152 bytes"),
    "too many": (
        20 * line({"type": "ready", "id": 1, "ports": [1], "setup_round_trip_ns": None}),
        "more lines of a request than there can be",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_a_malformed_message_ends_the_engine(saying: Callable[[bytes], Engine], name: str) -> None:
    said, complaint = LIES[name]
    engine = saying(said)
    with pytest.raises(EngineLost, match=complaint) as caught:
        request = engine.start({"type": "ping"})
        if name == "too many":
            while not engine.is_lost:
                time.sleep(0.01)
        for _ in range(20):
            request.result(10)
    assert "host7: the engine said what is no message of an engine" in caught.value.message
    assert len(caught.value.message) < 300
    assert engine.is_lost
    with pytest.raises(EngineLost):
        engine.describe()


@pytest.mark.parametrize("where", ["result", "partial"])
def test_a_result_of_another_kind_is_refused(saying: Callable[[bytes], Engine], where: str) -> None:
    armed = {"kind": "armed", "margin_ns": 1}
    failed = {"type": "error", "id": 1, "code": "x", "message": "y", "hint": None, "partial": armed}
    engine = saying(
        line({"type": "result", "id": 1, "result": armed} if where == "result" else failed)
    )
    with pytest.raises(EngineLost, match="answered with `armed` instead of `pong`"):
        engine.ask({"type": "ping"})


def test_a_result_before_ready_is_refused(saying: Callable[[bytes], Engine]) -> None:
    engine = saying(line(PONG))
    with pytest.raises(EngineLost, match="a result before it was ready"):
        engine.start({"type": "ping"}).wait_ready(10)


def test_a_refusal_without_an_id_ends_the_request(saying: Callable[[bytes], Engine]) -> None:
    refusal = {
        "type": "error",
        "id": None,
        "code": "request.too_long",
        "message": "too long",
        "hint": None,
        "partial": None,
    }
    with pytest.raises(EngineError, match="too long"):
        saying(line(refusal)).ask({"type": "ping"}, 5.0)


def test_a_request_longer_than_the_engine_reads_is_not_sent(
    saying: Callable[[bytes], Engine],
) -> None:
    with pytest.raises(EngineError, match="too long") as caught:
        saying(b"").start({"type": "ping", "more": "x" * 65_536})

    assert caught.value.code == "request.too_long"


def test_lines_with_unknown_ids_are_ignored(saying: Callable[[bytes], Engine]) -> None:
    strange = {"type": "error", "id": 78, "code": "x", "message": "y", "hint": None}
    said = line({**strange, "partial": None}) + 1000 * line({**PONG, "id": 77}) + line(PONG)
    engine = saying(said)
    assert engine.ask({"type": "ping"})["realtime_ns"] == 2
    assert not engine.is_lost


def test_an_incomplete_first_line_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "engine.py"
    short = {key: value for key, value in HELLO.items() if key != "capabilities"}
    script.write_text(f"import sys\nprint({json.dumps(short)!r}, flush=True)\nsys.stdin.read()\n")
    with pytest.raises(EngineLost, match="host7: the engine's first line: `capabilities` is"):
        Engine("host7", [sys.executable, str(script)])


class Endless(BytesIO):
    """A pipe on which somebody says one line for ever; counts what is asked of it."""

    asked = 0

    def readline(self, size: int | None = -1) -> bytes:
        assert size is not None
        assert size > 0, "nobody asks for a whole line, however long"
        self.asked += size
        return b"x" * size


def test_an_endless_line_is_read_up_to_its_limit() -> None:
    pipe = Endless()
    with pytest.raises(BadLine, match="more than 1000 bytes"):
        next(bounded_lines(pipe, 1000))
    assert pipe.asked == 1001


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    printed = subprocess.run([engine_path(), "schema"], check=True, capture_output=True).stdout
    found: dict[str, Any] = json.loads(printed)
    return found


def test_every_request_has_the_kind_of_its_result(schema: dict[str, Any]) -> None:
    requests = {one["properties"]["type"]["const"] for one in schema["$defs"]["Request"]["oneOf"]}
    kinds = {one["properties"]["kind"]["const"] for one in schema["$defs"]["Outcome"]["oneOf"]}
    assert set(RESULT_KINDS) == requests
    assert set(RESULT_KINDS.values()) == kinds


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=300)
@given(st.binary(max_size=200) | _JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_parsed_or_refused(octets: bytes) -> None:
    try:
        check_reply(read_line(octets))
    except BadLine as error:
        assert len(str(error)) < 500


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path] + [place for key, item in inner for place in _places(item, (*path, key))]


@settings(max_examples=300)
@given(st.data())
def test_a_message_with_one_value_changed_is_a_message_or_refused(data: st.DataObject) -> None:
    message: Any = copy.deepcopy(data.draw(st.sampled_from([HELLO, PONG])))
    *way, last = data.draw(st.sampled_from(_places(message)[1:]))
    place = message
    for key in way:
        place = place[key]
    place[last] = data.draw(_JSON)
    try:
        check_reply(read_line(line(message)))
    except BadLine as error:
        assert len(str(error)) < 500


def test_errors_are_reported_verbatim(saying: Callable[[bytes], Engine]) -> None:
    failed = {
        "type": "error",
        "id": 1,
        "code": "a.b",
        "message": "no",
        "hint": "do",
        "partial": None,
    }
    with pytest.raises(EngineError, match="host7: no") as caught:
        saying(line(failed)).ask({"type": "ping"})
    assert (caught.value.code, caught.value.hint) == ("a.b", "do")


def started(script: str) -> Engine:
    """An engine that says `hello`, and then does what a script of Python says."""
    whole = f"import os, time\nprint({json.dumps(HELLO)!r}, flush=True)\n{script}"
    return Engine("host7", [sys.executable, "-c", whole])


def test_an_engine_that_does_not_read_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanlab.engine.process._ANSWER_S", 0.5)
    with started("time.sleep(600)") as engine:
        with pytest.raises(EngineLost, match=r"did not answer within 0\.5 s and was ended"):
            for _ in range(3):
                engine.start({"type": "ping", "more": 60_000 * "x"})
        with pytest.raises(EngineLost):
            engine.start({"type": "ping"})


def test_an_engine_that_floods_its_errors_is_ended() -> None:
    flood = "while True: os.write(2, b'evil' * 16384)"
    with started(flood) as engine:
        with pytest.raises(EngineLost) as caught:
            engine.ask({"type": "ping"})
        assert caught.value.message == (
            "host7: the engine wrote more than 64 MiB of output and was ended"
        )


def test_the_last_output_of_an_engine_is_quoted() -> None:
    script = (
        "import os\nos.write(2, b'a line\\n' * 100_000 + b'the last\\n\\n')\nraise SystemExit(3)"
    )
    with (
        started(script) as engine,
        pytest.raises(EngineLost, match=r"the engine ended with exit code 3: the last$"),
    ):
        engine.ask({"type": "ping"})
