"""What both sides say is what the one schema says."""

import functools
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from programs import ran
from pydantic import ConfigDict, TypeAdapter, ValidationError
from raw_engine import (
    SESSION,
    Line,
    RawEngine,
    echo_request,
    echo_respond,
    probe_path,
    run_copy,
    run_echo,
    run_metadata,
    run_peer_echo,
    run_peer_serve,
    run_peer_stream,
    run_stations,
    run_stream,
    simulate,
    stream_receive,
    stream_send,
)
from schema_names import names_of
from typing_extensions import is_typeddict

from lanlab.engine import SCHEMA_VERSION, contract, engine_path
from lanlab.engine.lines import BadLine, check_reply
from lanlab.errors import RunError
from lanlab.performers import EngineHost, perform_between
from lanlab.workloads import WORKLOADS
from lanlab.workloads.echo.workload import EchoParameters
from lanlab.workloads.parameters import FlowParameters
from lanlab.workloads.stream.parameters import StreamParameters

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import generate_messages


def _schema() -> dict[str, Any]:
    done = ran([engine_path(), "schema"], check=True)
    schema: dict[str, Any] = json.loads(done.stdout)
    return schema


SCHEMA = _schema()


@functools.cache
def validator_of(definition: str) -> Draft202012Validator:
    return Draft202012Validator({**SCHEMA, "properties": {}, "required": []}).evolve(
        schema={"$ref": f"#/$defs/{definition}", "$defs": SCHEMA["$defs"]}
    )


def errors_of(instance: object, definition: str) -> list[str]:
    errors = validator_of(definition).iter_errors(instance)
    return [f"{error.json_path}: {error.message}" for error in errors]


def variants(definition: str, tag: str) -> set[str]:
    return {each["properties"][tag]["const"] for each in SCHEMA["$defs"][definition]["oneOf"]}


def branch(definition: str, tag: str, value: str | None) -> Any:
    """The part of an enumeration that a value of its tag stands for; `False` allows nothing."""
    choices = SCHEMA["$defs"][definition]["oneOf"]
    return next((each for each in choices if each["properties"][tag]["const"] == value), False)


def test_names_in_an_enum_are_checked_with_or_without_description() -> None:
    allowed = {key: names_of(each) for key, each in SCHEMA["$defs"].items() if names_of(each)}
    assert len(allowed) >= 15
    for key, names in allowed.items():
        check = contract.definition(key)
        for name in names:
            check(name)
        with pytest.raises(contract.Mismatch):
            check("no such name")


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Line]]:
    """Real lines: every type, every kind of result, errors with and without a partial result."""
    with RawEngine() as target, RawEngine() as source:
        source.ask({"type": "describe"})
        for transport in ("udp", "tcp"):
            # Long enough for a line of progress from each end.
            time_ns = {"amount": {"time_ns": 300_000_000}}
            runs = [
                run(target, source, transport=transport, **time_ns)
                for run in (run_stream, run_echo)
            ]
            for listening, connecting in runs:
                source.wait(connecting)
                target.wait(listening)
        listening, connecting = run_stream(target, source, amount={"time_ns": 60_000_000_000})
        source.wait(connecting, "progress")
        target.ask({"type": "cancel", "target": listening})
        target.wait(listening)
        source.wait(connecting)
        target.refusal(stream_receive(message_size_bytes=0))
        spec = {
            "transport": "udp",
            "message_size_bytes": 100,
            "amount": {"messages": 20},
            "flows": 1,
            "io": "single",
            "warmup_ns": 0,
            "interval_ns": 1_000_000_000,
            "silence_ns": 1_000_000_000,
        }
        source.ask(simulate({"workload": "stream", "ip_version": 4, "spec": spec}))
        probe_path(target, source)
        run_copy(source, target, str(tmp_path_factory.mktemp("served")))
        run_peer_stream(source)
        run_peer_echo(source)
        run_peer_serve(source)
        run_stations(source)
        run_metadata(source)
        target.send_bytes(b"{\n")
        target.wait(None, "error")
        yield target.lines + source.lines


def test_the_package_schema_equals_the_engines() -> None:
    schema = generate_messages.generate(str(engine_path()))
    assert generate_messages.TARGET.read_text() == schema
    stub = generate_messages.Stub(json.loads(schema)["$defs"])
    assert generate_messages.STUB.read_text() == stub.text()


def test_real_lines_are_valid(lines: list[Line]) -> None:
    for line in lines:
        assert errors_of(line, "Reply") == [], line
        check_reply(line)


def test_real_lines_have_the_types_of_the_stub(lines: list[Line]) -> None:
    types: dict[str, Any] = {"__name__": "stub"}
    text = generate_messages.STUB.read_text().replace(
        "from typing import", "from typing_extensions import"
    )
    exec(f"from __future__ import annotations\n{text}", types)
    for each in types.values():
        if is_typeddict(each):
            each.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    adapters = {name: TypeAdapter(types[name]) for name in ("Line", "Simulated")}
    for each in adapters.values():
        each.rebuild(_types_namespace=types)
    for line in lines:
        if line.get("result", {}).get("kind") == "simulated":
            result = line["result"]
            adapters["Simulated"].validate_python(
                {key: result[key] for key in result if key != "kind"}
            )
        else:
            adapters["Line"].validate_python(line)
    with pytest.raises(ValidationError, match="another"):
        adapters["Line"].validate_python({**lines[0], "another": 1})


_OTHER_VALUES = (None, True, -1, 1.5, 2**63, "", [None], {"kind": "pong"})


def changes_of(value: Any) -> Iterator[Any]:
    """A value with one thing in it changed: each in turn, to each of several others."""
    yield from _OTHER_VALUES
    if isinstance(value, dict):
        yield {**value, "another": "x"}
        for key, inner in value.items():
            yield {other: value[other] for other in value if other != key}
            yield from ({**value, key: changed} for changed in changes_of(inner))
    elif isinstance(value, list) and value:
        yield from ([changed, *value[1:]] for changed in changes_of(value[0]))


@pytest.mark.parametrize("each", [7, pytest.param(1, marks=pytest.mark.long)])
def test_our_check_agrees_with_a_json_schema_validator(lines: list[Line], each: int) -> None:
    kinds = {}
    for line in lines:
        result = line.get("result") or line.get("partial") or {}
        kinds[line["type"], result.get("kind")] = line
    judged = set()
    for (name, kind), line in kinds.items():
        # It would try every branch; that of the line is enough, and quick.
        defs = {**SCHEMA["$defs"], "Outcome": branch("Outcome", "kind", kind)}
        validator = Draft202012Validator({"$defs": defs, **branch("Reply", "type", name)})
        # There are eight changes of each value: every seventh of all is another of each.
        for changed in itertools.islice(changes_of(line), 0, None, each):
            if not isinstance(changed, dict):
                continue
            try:
                check_reply(changed)
                is_taken = True
            except BadLine:
                is_taken = False
            is_allowed = validator.is_valid(changed)
            if is_taken != is_allowed:
                # We alone know that no ratio is negative, and how many bits a number has.
                with pytest.raises(BadLine, match=r"is negative|is not between"):
                    check_reply(changed)
            judged.add(is_taken)
    assert judged == {True, False}


def test_real_lines_cover_every_kind_of_message(lines: list[Line]) -> None:
    assert {line["type"] for line in lines} == variants("Reply", "type")
    results = {line["result"]["kind"] for line in lines if line["type"] == "result"}
    # A server ends only when it is cancelled.
    partial = {line["partial"]["kind"] for line in lines if line.get("partial")}
    # A virtual LAN needs rights that not every user has (tests/testbeds/test_medium.py has one).
    of_virtual_lan = {"medium_read", "medium_ended", "hosts_set_up", "hosts_read"}
    # So does listening to an interface (tests/cli/test_listen.py has it).
    of_interfaces = {"heard"}
    # A list of shares comes from a server that lists them (tests/nas/test_places.py).
    of_lists = {"places_listed"}
    known = variants("Outcome", "kind") - of_virtual_lan - of_interfaces - of_lists
    assert results | partial == known
    assert "serve_ended" in partial
    errors = [line for line in lines if line["type"] == "error"]
    assert {error["partial"] is None for error in errors} == {True, False}
    assert {error["id"] is None for error in errors} == {True, False}


def test_hello_is_the_first_line_and_states_the_versions(lines: list[Line]) -> None:
    assert lines[0]["type"] == "hello"
    assert lines[0]["schema_version"] == SCHEMA_VERSION
    version = ran([engine_path(), "--version"])
    assert version.stdout == f"lanlab-engine {lines[0]['engine_version']}\n"


def test_progress_comes_at_the_stated_rate() -> None:
    with RawEngine() as target, RawEngine() as source:
        interval_ns = target.hello["progress_interval_ns"]
        # Two intervals and a half: two lines, unless a busy machine misses one or takes longer.
        amount = {"time_ns": 5 * interval_ns // 2}
        runs = [run(target, source, amount=amount) for run in (run_stream, run_echo)]
        for listening, connecting in runs:
            source.wait(connecting)
            target.wait(listening)
            for engine, request_id in ((target, listening), (source, connecting)):
                progress = [
                    line
                    for line in engine.lines
                    if line["type"] == "progress" and line["id"] == request_id
                ]
                counts = [line["messages"] for line in progress]
                assert counts == sorted(counts)
                intervals = [line["elapsed_ns"] // interval_ns for line in progress]
                assert intervals == sorted(intervals) and 0 not in intervals, progress


class _Recorder:
    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.hello: dict[str, Any] = {"capabilities": {}}
        self.label = "host"

    def start(self, request: object, asked: list[Any]) -> object:
        self.requests.append(request)
        if len(self.requests) == 2:
            raise RunError("enough")
        ports = list(range(1, 1001))
        asked.append(
            SimpleNamespace(
                id=1, is_over=True, on_progress=None, wait_ready=lambda _: {"ports": ports}
            )
        )
        return asked[-1]

    def clock_offset(self, pings: int) -> tuple[int, int]:
        return -12, 5

    is_lost = True


_COMMON: dict[str, Any] = {
    "ip_version": st.sampled_from([4, 6]),
    "message_size_bytes": st.integers(1, 65_507),
    "warmup_s": st.floats(0, 600),
    "send_buffer_bytes": st.none() | st.integers(1024, 2**30),
    "receive_buffer_bytes": st.none() | st.integers(1024, 2**30),
    "dscp": st.integers(0, 63),
    "silence_s": st.floats(0.1, 600),
}
_TRANSPORT = st.fixed_dictionaries({"transport": st.just("udp")}) | st.fixed_dictionaries(
    {
        "transport": st.just("tcp"),
        "nodelay": st.booleans(),
        "congestion_control": st.sampled_from([None, "cubic", "reno", "cubic,reno"]),
    }
)


def _stream(*parts: dict[str, Any]) -> StreamParameters:
    given = {key: value for part in parts for key, value in part.items()}
    rate_bps = given.get("rate_bps", 0) / (8 * given["message_size_bytes"])
    messages = given.get("rate_messages_per_s", rate_bps) * given.get("time_s", 0)
    # A slower sender than one message in its time is refused.
    assume(messages == 0 or messages >= 1)
    return StreamParameters(**given)


_STREAM = st.builds(
    _stream,
    st.fixed_dictionaries(
        {
            **_COMMON,
            "flows": st.integers(1, 128),
            "io": st.sampled_from(["single", "batch", "auto"]),
            "interval_s": st.floats(0.01, 60),
        }
    ),
    _TRANSPORT,
    st.one_of(
        st.fixed_dictionaries({"time_s": st.floats(0.001, 86_400)}),
        st.fixed_dictionaries({"bytes": st.integers(1, 2**50)}),
        st.fixed_dictionaries({"messages": st.integers(1, 2**40)}),
    ),
    st.one_of(
        st.just({}),
        st.fixed_dictionaries({"rate_bps": st.integers(1, 400_000_000_000)}),
        st.fixed_dictionaries({"rate_messages_per_s": st.floats(0.001, 100_000_000)}),
    ),
)
_ECHO = st.builds(
    lambda common, transport, amount: EchoParameters(**{**common, **transport, **amount}),
    st.fixed_dictionaries(
        {
            **_COMMON,
            "rate_requests_per_s": st.none() | st.floats(0.001, 10_000_000),
            "timeout_s": st.floats(0.001, 60),
        }
    ),
    _TRANSPORT,
    st.one_of(
        st.fixed_dictionaries({"time_s": st.floats(0.001, 86_400)}),
        st.fixed_dictionaries({"requests": st.integers(1, 2**32)}),
    ),
)


@settings(max_examples=100)
@given(parameters=_STREAM | _ECHO)
def test_every_request_that_a_workload_builds_is_valid(parameters: FlowParameters) -> None:
    name = "stream" if isinstance(parameters, StreamParameters) else "echo"
    recorder = _Recorder()
    address = {4: "127.0.0.1", 6: "::1"}[parameters.ip_version]
    host = EngineHost(cast("Any", recorder), address, None)
    kind = WORKLOADS[name]
    perform_between(kind, parameters, host, host, 0.1)

    assert len(recorder.requests) == 2
    for request in recorder.requests:
        assert errors_of({"id": 1, "request": request}, "Command") == []


@pytest.mark.parametrize(
    "request_",
    [
        {"type": "describe"},
        {"type": "ping"},
        {"type": "arm", "target": 7, "at_ns": 1},
        {"type": "cancel", "target": 7},
        stream_receive(),
        stream_send([5000]),
        echo_respond(),
        echo_request(5000),
    ],
    ids=lambda request: str(request["type"]),
)
def test_schema_and_engine_refuse_the_same_requests(request_: Line) -> None:
    if "session" in request_:
        # Valid by the schema, refused all the same: nothing is to be measured here.
        request_ = {**request_, "session": "no token"}
    with RawEngine() as engine:
        for wrong in (
            {**request_, "colour": "red"},
            *({k: v for k, v in request_.items() if k != key} for key in request_),
        ):
            allowed = errors_of({"id": 1, "request": wrong}, "Command") == []
            line = engine.wait(engine.send(wrong), "ready", "result", "error")
            malformed = line.get("code") == "request.malformed"
            assert malformed != allowed, (wrong, line)


def test_no_reply_contains_the_session(lines: list[Line]) -> None:
    assert SESSION not in json.dumps(lines)
