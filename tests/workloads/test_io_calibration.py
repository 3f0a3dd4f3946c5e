"""What one engine has found out about ways to send and to receive, the next need not try."""

import contextlib
import time
from pathlib import Path
from typing import Any

import pytest
from trial_running import LEAD_S, finished

from lanlab.engine import Engine, engine_path
from lanlab.errors import EngineError, EngineLost
from lanlab.performers import Hosts, io_calibration, perform_between
from lanlab.testbeds.loopback import LoopbackTestbed
from lanlab.workloads import WORKLOADS

FACTS: dict[str, Any] = {"boot_id": "b1", "processors": 4}


def ways(single: float, batch: float, **others: Any) -> dict[str, Any]:
    candidates = [
        {"name": name, "messages_per_s": rate, "cpu_ns_per_message": 2500.0}
        for name, rate in (("single", single), ("batch", batch))
    ]
    return {
        "engine": others.pop("engine"),
        "tried_at_s": int(time.time()) - 600,
        "transport": "udp",
        "message_bytes": 512,
        "receive_buffer_bytes": None,
        "of": {"end": "send", "beside": "poll"},
        "candidates": candidates,
        **others,
    }


class Fake:
    """An engine that knows `known`, and keeps what a request says of earlier ones."""

    def __init__(self, *known: dict[str, Any], is_lost: bool = False) -> None:
        self.known, self.is_lost = list(known), is_lost
        self.told: list[dict[str, Any]] | None = None

    def ask(self, request: dict[str, Any], within_s: float = 10.0) -> dict[str, Any]:
        if self.is_lost:
            raise EngineLost("host0: the engine stopped answering")
        assert request["type"] == "share_ways" and within_s > 0
        if "earlier" in request:
            self.told = request["earlier"]
        return {"kind": "known_ways", "ways": self.known}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LANLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def keep(*engines: Fake, facts: dict[str, Any] = FACTS) -> None:
    by_name: dict[str, Any] = {f"host{n}": engine for n, engine in enumerate(engines)}
    io_calibration.keep_of(by_name, dict.fromkeys(by_name, facts))


def told_to(facts: dict[str, Any]) -> list[dict[str, Any]] | None:
    """What a request to an engine of a host with such facts says of earlier ones."""
    engine: Any = Fake()
    io_calibration.tell_engines({"host0": engine}, {"host0": facts})
    told: list[dict[str, Any]] | None = engine.told
    return told


def test_the_next_engine_of_a_host_gets_earlier_findings(cache: Path) -> None:
    one = ways(200.0, 300.0, engine="1.0")
    keep(Fake(one))
    assert told_to(FACTS) == [one]
    assert cache.stat().st_mode & 0o077 == 0


def test_what_rounds_did_not_agree_on_is_not_kept(cache: Path) -> None:
    unsure = ways(200.0, 190.0, engine="1.0", is_sure=False)
    keep(Fake(unsure))
    assert told_to(FACTS) is None


def test_within_a_series_the_first_choice_holds_for_all(cache: Path) -> None:
    first = ways(200.0, 190.0, engine="1.0", is_sure=False)
    later = ways(190.0, 200.0, engine="1.0", is_sure=True)
    another = ways(1.0, 2.0, engine="2.0", is_sure=False)
    with io_calibration.pinned():
        keep(Fake(first))
        assert told_to(FACTS) == [first]
        keep(Fake(later, another))
        assert told_to(FACTS) == [first, another]
        assert told_to({"boot_id": "b2", "processors": 4}) is None
    # The file has what was sure, for the next series.
    assert told_to(FACTS) == [later]


@pytest.mark.parametrize(
    "other", [{"boot_id": "b2", "processors": 4}, {"boot_id": "b1", "processors": 2}]
)
def test_another_boot_or_number_of_processors_is_another_host(
    cache: Path, other: dict[str, Any]
) -> None:
    keep(Fake(ways(200.0, 300.0, engine="1.0")))
    assert told_to(other) is None


def test_an_unknown_host_gets_no_earlier_findings(cache: Path) -> None:
    unknown = {"boot_id": None, "processors": 4}
    keep(Fake(ways(200.0, 300.0, engine="1.0")), facts=unknown)
    assert told_to(unknown) is None
    assert not (cache / "ways.json").exists()


def test_what_is_kept_first_stays_until_it_is_too_old(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ways(200.0, 300.0, engine="1.0"), ways(400.0, 300.0, engine="1.0")
    other = ways(1.0, 2.0, engine="1.0", of={"end": "send", "beside": "spin"})
    keep(Fake(first), Fake(second, other))
    keep(Fake(second))
    assert told_to(FACTS) == [first, other]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_390)
    assert told_to(FACTS) == [first, other]
    monkeypatch.setattr(time, "time", lambda: now + 86_410)
    assert told_to(FACTS) is None
    keep(Fake(second))
    assert told_to(FACTS) == [second]
    # The clock was set back: when that was, nobody knows.
    monkeypatch.setattr(time, "time", lambda: now)
    assert told_to(FACTS) is None


def test_of_one_host_the_latest_are_kept(cache: Path) -> None:
    sizes = [ways(1.0, 2.0, engine="1.0", message_bytes=size) for size in range(1, 71)]
    keep(Fake(*sizes))
    assert told_to(FACTS) == sizes[-64:]


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"{", b"\xff", b'{"b1 4": 5}', b'{"b1 4": [{"kept_at_s": "now", "ways": {}}]}',
        b'{"b1 4": [7]}', b'{"b1 4": [{"kept_at_s": NaN, "ways": {"engine": "1.0"}}]}',
    ],
)  # fmt: skip
def test_a_file_that_is_not_ours_is_no_knowledge(cache: Path, content: bytes) -> None:
    cache.mkdir()
    (cache / "ways.json").write_bytes(content)
    assert told_to(FACTS) is None
    keep(Fake(ways(200.0, 300.0, engine="1.0")))
    assert len(told_to(FACTS) or []) == 1


def test_a_place_that_takes_no_file_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LANLAB_CACHE", str(tmp_path / "file"))
    keep(Fake(ways(200.0, 300.0, engine="1.0")))
    assert told_to(FACTS) is None


def test_a_lost_engine_is_not_asked_and_one_that_is_lost_then_costs_nothing(cache: Path) -> None:
    keep(Fake(ways(1.0, 2.0, engine="1.0"), is_lost=True))
    assert told_to(FACTS) is None

    class Dying(Fake):
        def ask(self, request: dict[str, Any], within_s: float = 10.0) -> dict[str, Any]:
            raise EngineLost("host0: the engine stopped answering")

    keep(Dying(), Fake(ways(1.0, 2.0, engine="1.0")))
    assert len(told_to(FACTS) or []) == 1
    dying: Any = Dying()
    io_calibration.tell_engines({"host0": dying}, {"host0": FACTS})


def test_nothing_is_left_next_to_the_file(cache: Path) -> None:
    cache.mkdir()
    keep(Fake(ways(1.0, 2.0, engine="1.0")))
    assert [path.name for path in cache.iterdir()] == ["ways.json"]


@pytest.mark.parametrize(
    ("single", "batch", "io"), [(200_000.0, 300_000.0, "batch"), (300_000.0, 200_000.0, "single")]
)
def test_an_engine_takes_what_an_earlier_one_found_and_says_when(
    cache: Path, single: float, batch: float, io: str
) -> None:
    with Engine("host0", [engine_path()]) as engine:
        facts, version = engine.describe(), engine.hello["engine_version"]
    # One that is not optimised is another engine.
    both = [ways(single, batch, engine=name) for name in (version, f"{version} debug")]
    keep(Fake(*both), facts=facts)
    hosts = Hosts(LoopbackTestbed(2, "unshaped"))
    try:
        stream = WORKLOADS["stream"]
        condition = stream.Parameters(message_size_bytes=500, time_s=0.05, warmup_s=0)
        outcome = perform_between(stream, condition, *hosts.engine_hosts("ipv4"), LEAD_S)
        trial = finished(outcome, "stream", message_size_bytes=500, time_s=0.05)
    finally:
        hosts.close()
    assert trial.source["io"] == io
    choice = trial.source["io_choice"]
    assert choice["candidates"] == both[0]["candidates"]
    assert choice["tried_at_s"] == both[0]["tried_at_s"]
    assert choice["reason"].endswith("(tried 10 min before)")
    # What was not told is tried.
    tried = trial.target["receive_choice"]
    assert abs(tried["tried_at_s"] - time.time()) < 60
    assert "before)" not in tried["reason"]


def test_an_engine_refuses_what_none_tells_and_goes_on() -> None:
    with Engine("host0", [engine_path()]) as engine:
        version = engine.hello["engine_version"]
        for name in (version, f"{version} debug"):
            wrong = ways(1.0, 2.0, engine=name, of={"end": "receive", "beside": "batch"})
            with contextlib.suppress(EngineError):
                engine.ask({"type": "share_ways", "earlier": [wrong]})
        assert engine.ask({"type": "share_ways"})["ways"] == []
