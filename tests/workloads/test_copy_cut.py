"""Connections that are cut or held up in mid-copy: tried again, counted, or given up."""

import time
from pathlib import Path

import pytest
from copying import before_request, copy, failure_of, mark_of, metrics_of, working_directories
from file_servers import EMBEDDED, Relay, Served, each_at_three
from trial_running import Pair

from lanlab.workloads import TrialOutcome

pytestmark = pytest.mark.usefixtures("cache")

#: Where the octets of a file go through the relay: those of FTP over TLS go to a port that only the
#: two ends know.
RELAYED = tuple(service for service in EMBEDDED if service != "ftps")
WAYS = {"upload": "there", "download": "back"}


def faults(exchange: TrialOutcome) -> dict[str, int]:
    found = exchange.results["client"]["faults"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("direction", "service"), each_at_three(("upload",), ("download",), services=RELAYED)
)
def test_a_cut_in_mid_file_is_tried_again_and_counted(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: str, direction: str
) -> None:
    with Served(pair.engines[1], service, tmp_path) as (url, trust), Relay(url) as relay:
        before_request(monkeypatch, "copy", lambda _: relay.cut_once(400_000, WAYS[direction]))
        exchange = copy(
            pair.engines, server=relay.url, trust=trust, dataset="2x1MB", direction=direction
        )
        metrics = metrics_of(exchange)

    assert (metrics["retries"], metrics["faults"]) == (1, 1)
    assert faults(exchange) == {"reset": 1}
    assert (metrics["copied_files"], metrics["copied_bytes"]) == (2, 2_000_000)
    times = exchange.results["client"]["file_times"]
    assert sorted(times["retries"]) == [0, 1]
    # The rest before the second attempt is part of the file's time.
    again = times["retries"].index(1)
    assert times["closed_ns"][again] - times["opened_ns"][again] >= 100_000_000
    assert not working_directories(tmp_path)


@pytest.mark.parametrize(
    ("direction", "service"), each_at_three(("upload",), ("download",), services=RELAYED)
)
def test_a_file_cut_every_time_is_given_up_after_the_retries(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: str, direction: str
) -> None:
    with Served(pair.engines[1], service, tmp_path) as (url, trust), Relay(url) as relay:
        before_request(monkeypatch, "copy", lambda _: relay.cut_always(400_000, WAYS[direction]))
        before_request(
            monkeypatch, "copy_empty", lambda _: vars(relay).update(there=_all, back=_all)
        )
        exchange = copy(
            pair.engines,
            server=relay.url,
            trust=trust,
            dataset="1x1MB",
            direction=direction,
            retries=2,
        )
    error = failure_of(exchange)
    assert error.code == "service.reset"
    assert "(given up after 3 attempts)" in error.message
    assert error.hint == "see whether the server is overloaded or was ended"
    assert faults(exchange) == {"reset": 3}
    assert not working_directories(tmp_path)


def _all(octets: bytes, _: int) -> bytes:
    return octets


def test_a_file_held_open_keeps_its_mark_until_the_next_trial(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Served(pair.engines[1], "smb", tmp_path) as (url, trust), Relay(url) as relay:

        def nothing_more(octets: bytes, before: int) -> bytes:
            return b"" if before + len(octets) > 300_000 else octets

        silent = {"there": nothing_more, "is_silent": True}
        before_request(monkeypatch, "copy", lambda _: vars(relay).update(silent))
        before_request(monkeypatch, "copy_empty", lambda _: vars(relay).update(there=_all))
        cut = copy(
            pair.engines, server=relay.url, trust=trust, dataset="2x1MB", retries=0, timeout_s=1.5
        )
        assert failure_of(cut).code == "service.timed_out"
        assert cut.setup["emptied"]["left"]["refusal"]
        (left,) = working_directories(tmp_path)
        assert mark_of(left).is_file()
        assert list((left / "files").iterdir())

        relay.is_silent = False
        again = copy(pair.engines, server=relay.url, trust=trust)
        metrics_of(again)
        (removed,) = again.setup["left_before"]
        assert (removed["working_name"], removed["is_gone"]) == (left.name, True)
    assert not working_directories(tmp_path)


def test_an_early_end_of_an_ftp_connection_is_found_by_comparing(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FTP has no other word for it (RFC 959): a connection that is ended in order and early is not
    a fault that shows. What is missing is found by comparing, and fails the trial."""
    with Served(pair.engines[1], "ftp", tmp_path) as (url, _), Relay(url) as relay:
        relay.there = lambda octets, before: octets[: max(0, 400_000 - before)]
        exchange = copy(pair.engines, server=relay.url, dataset="1x1MB")
    error = failure_of(exchange)
    assert error.code == "copy.wrong"
    assert "not whole" in error.message
    assert not working_directories(tmp_path)


def waited_for_processors_s() -> float:
    """Time in which some thread of this machine waited for a processor."""
    some = Path("/proc/pressure/cpu").read_text().partition("\n")[0]
    return float(some.rpartition("total=")[2]) / 1e6


@pytest.mark.parametrize("service", ["webdav", pytest.param("smb", marks=pytest.mark.long)])
@pytest.mark.figures
def test_a_real_stall_is_named(pair: Pair, tmp_path: Path, service: str) -> None:
    """Only a machine whose processors are busy may hide a timer's 40 ms."""
    with (
        Served(pair.engines[1], service, tmp_path) as (url, trust),
        Relay(url, has_nagle=True) as relay,
    ):
        for _ in range(5):
            begin, waited_s = time.monotonic(), waited_for_processors_s()
            exchange = copy(pair.engines, server=relay.url, trust=trust, dataset="24x1kB")
            metrics, client = metrics_of(exchange), exchange.results["client"]
            if client["stalls"]:
                break
            busy = (waited_for_processors_s() - waited_s) / (time.monotonic() - begin)
            assert busy > 0.25, client["operations"]
        else:
            pytest.skip(f"threads waited for processors {busy:.0%} of the time")
    for stall in client["stalls"]:
        assert 38e6 <= stall["mode_ns"] < 50e6
        assert "Nagle" in stall["likely"]
        assert "a delayed acknowledgement of Linux (40 ms)" in stall["likely"]
    assert metrics["stall_ratio"] > 0.3


def test_a_server_without_a_stall_is_not_blamed(pair: Pair, tmp_path: Path) -> None:
    with Served(pair.engines[1], "webdav", tmp_path) as (url, _), Relay(url) as relay:
        exchange = copy(pair.engines, server=relay.url, dataset="60x1kB")
    assert metrics_of(exchange)["stall_ratio"] == 0


def test_a_temporarily_unremovable_mark_fails_the_trial(pair: Pair, tmp_path: Path) -> None:
    with Served(pair.engines[1], "ftp", tmp_path) as (url, _), Relay(url) as relay:
        is_asked = False

        def there(octets: bytes, before: int) -> bytes:
            nonlocal is_asked
            if octets.startswith(b"DELE ") and b"mark.lab" in octets:
                is_asked = True
                return b"NOOP\r\n"
            return octets

        def back(octets: bytes, before: int) -> bytes:
            nonlocal is_asked
            was_asked, is_asked = is_asked, False
            return b"421 busy\r\n" if was_asked else octets

        relay.there, relay.back = there, back
        exchange = copy(pair.engines, server=relay.url, dataset="1x1kB")
    error = failure_of(exchange)
    assert (error.code, "421 busy" in error.message) == ("service.reset", True)
    (working,) = working_directories(tmp_path)
    assert mark_of(working).exists()
