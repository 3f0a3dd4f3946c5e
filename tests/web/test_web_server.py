"""The server of the live page, by plain requests: what it answers, refuses and survives."""

import contextlib
import re
import select
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import COMMAND
from synthetic_runs import SyntheticRun, synthetic_run
from waiting import PATIENCE_S, until
from web_serving import asked, events, serving

from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import UsageError
from lanlab.report.metrics.metric_table import metric_table
from lanlab.store import RunHead, open_store
from lanlab.store.database import Store
from lanlab.store.labels import RunLabel
from lanlab.web.admission import Admission, Waiting
from lanlab.web.server import ADDRESS, WebServer
from lanlab.web.watch import Page, Watch

_SEARCH = "20261121-100000-search-0003"
_DISTURBED = "20261121-080000-disturbed-0001"
_FASTER = "20261121-090000-faster-0002"
_INTERRUPTED = "20261121-110000-interrupted-0004"


def _begun(place: Path, made: SyntheticRun) -> None:
    with open_store(str(place)) as records:
        records.start_run(replace(made.run, status="running", ended_at=None)).release()


def test_pages_carry_a_strict_policy_and_stay_out_of_caches_and_frames(server: WebServer) -> None:
    for path in ("", f"run/{_SEARCH}", f"run/{_SEARCH}/trial/0", "assets/run.js", "no-such"):
        _, fields, _ = asked(server, f"/{server.token}/{path}")
        policy = fields["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert fields["Cache-Control"] == "no-store"
        assert fields["X-Content-Type-Options"] == "nosniff"
        assert fields["Referrer-Policy"] == "same-origin"
        assert "Access-Control-Allow-Origin" not in fields
        assert "Set-Cookie" not in fields


def test_requests_without_the_token_are_refused_and_reveal_none(server: WebServer) -> None:
    for path, fields in (
        ("/", {}),
        ("/wrong/", {}),
        (f"/{server.token}/", {"Origin": "http://evil.example"}),
        (f"/{server.token}/", {"Host": "evil.example"}),
    ):
        status, _, text = asked(server, path, headers=fields)
        assert status == 403
        assert "Open the address that `lanlab web` printed" in text
        assert server.token not in text


@pytest.mark.parametrize("path", ["", "events", f"run/{_SEARCH}", f"run/{_SEARCH}/events"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://example.org"},
        {"Host": "example.org"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
    ],
    ids=["origin", "host", "script"],
)
def test_foreign_origins_get_nothing_even_with_the_token(
    server: WebServer, path: str, headers: dict[str, str]
) -> None:
    status, fields, text = asked(server, f"/{server.token}/{path}", headers=headers)

    assert status == 403
    assert "Access-Control-Allow-Origin" not in fields
    assert _SEARCH not in text and server.token not in text
    assert server.watch.pages == ()
    assert asked(server, f"/{server.token}/")[0] == 200


def test_request_bodies_are_refused_unread(server: WebServer) -> None:
    status, fields, text = asked(server, f"/{server.token}/", method="POST", body=b"x=1")
    assert status == 405
    assert fields["Allow"] == "GET, HEAD"
    assert "can only be read" in text


def test_the_server_listens_on_loopback_only(server: WebServer) -> None:
    assert server.socket.getsockname()[0] == ADDRESS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("192.0.2.1", 9))
        except OSError:
            return
        own = asking.getsockname()[0]
    with socket.socket() as other:
        other.settimeout(5)
        assert other.connect_ex((own, server.server_address[1])) != 0


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("run/no-such-run", 404, "no run named `no-such-run`"),
        ("run/..%2F..%2Fetc%2Fpasswd", 404, "no run named"),
        (f"run/{_SEARCH}/trial/99999", 404, "no trial named"),
        ("assets/..%2F..%2F__init__.py", 404, "there is no such page"),
        ("assets/nothing.js", 404, "there is no such page"),
        ("compare", 400, "found 0 runs to compare"),
        (f"compare?run={_SEARCH}&run={_DISTURBED}", 400, "study"),
        ("compare?" + "run=a&" * 200, 400, "too much"),
    ],
)
def test_unknown_pages_are_reported(server: WebServer, path: str, status: int, said: str) -> None:
    found, _, text = asked(server, f"/{server.token}/{path}")
    assert found == status
    assert said.lower() in text.lower()
    assert f'href="/{server.token}/"' in text


def test_an_invalid_request_is_refused_and_the_next_is_answered(server: WebServer) -> None:
    for octets in (b"\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"G" * 70_000):
        with socket.create_connection((ADDRESS, server.server_address[1]), 20) as stranger:
            stranger.sendall(octets)
            stranger.shutdown(socket.SHUT_WR)
            told = stranger.recv(65_536)
            assert server.token.encode() not in told
    with socket.create_connection((ADDRESS, server.server_address[1]), 20) as stranger:
        stranger.sendall(b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert stranger.recv(65_536).startswith(b"HTTP/1.1 400 ")
    assert asked(server, f"/{server.token}/")[0] == 200


def test_texts_of_a_store_are_never_markup(tmp_path: Path) -> None:
    title = "<script>alert(1)</script>"
    made = synthetic_run("milanovic-srbljic", most_trials=3, title=title)
    place = tmp_path / "store.sqlite"
    _begun(place, made)
    with open_store(str(place)) as records:
        for trial in made.trials:
            records.commit_trial(trial)
    with serving(place) as server:
        for path in (f"run/{made.run.id}", f"run/{made.run.id}/trial/0"):
            text = asked(server, f"/{server.token}/{path}")[2]
            assert title not in text
        assert "&lt;script&gt;" in asked(server, f"/{server.token}/run/{made.run.id}")[2]
        with events(server, f"run/{made.run.id}/events") as found:
            html = next(data["html"] for name, data in found if name == "tables")
    assert "<script" not in html


def test_live_numbers_match_the_report(server: WebServer, store: Path) -> None:
    with open_store(str(store)) as records:
        run = records.run(_DISTURBED)
        trials = records.trials(run.id)
    made = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    experiment = made.study.experiment[0]
    table = metric_table(
        RunData(run, trials, made.study, made.published), experiment.id, experiment.metrics[0]
    )
    expected = [cell.text for column, cells in table.shown() for cell in cells]
    with events(server, f"run/{run.id}/events") as found:
        html = next(data["html"] for name, data in found if name == "tables")
    cells = [
        text.replace("&#39;", "'").replace("&amp;", "&")
        for text in re.findall(r"<td[^>]*>([^<]*)</td>", html)
    ]
    assert expected
    assert set(expected) <= set(cells)


def test_live_comparisons_match_the_command(server: WebServer, store: Path, drawn: None) -> None:
    status, fields, text = asked(server, f"/{server.token}/compare?run={_FASTER}&run={_DISTURBED}")
    assert status == 200
    assert "script-src 'sha256-" in fields["Content-Security-Policy"]
    page = store.with_name("compared.html")
    options = ["--store", str(store), "--report", str(page)]
    subprocess.run(
        [*COMMAND, "compare", _DISTURBED, _FASTER, *options], check=True, capture_output=True
    )
    home = f'<p class="home"><a href="/{server.token}/">All runs</a></p>\n'
    assert home in text
    # The command's file ends with a mark of its own.
    assert page.read_text().startswith(text.replace(home, ""))


def test_a_trial_that_another_process_commits_is_sent_soon(tmp_path: Path) -> None:
    made = synthetic_run("milanovic-srbljic", most_trials=12)
    place = tmp_path / "store.sqlite"
    _begun(place, made)
    script = f"""
import sys; sys.path[:0] = {sys.path!r}
from synthetic_runs import synthetic_run
from lanlab.store import RunHead, open_store
from lanlab.store.database import Store
made = synthetic_run("milanovic-srbljic", most_trials=12)
with open_store({str(place)!r}) as records, records.acquire_run(made.run.id):
    for trial in made.trials:
        input(); records.commit_trial(trial); print("done", flush=True)
    input(); records.finish_run(made.run.id, "interrupted"); print("done", flush=True)
"""
    with (
        serving(place) as server,
        subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as writer,
        events(server, f"run/{made.run.id}/events") as found,
    ):
        assert writer.stdin is not None and writer.stdout is not None
        late_s = []
        for done in range(1, 13):
            writer.stdin.write("\n")
            writer.stdin.flush()
            assert writer.stdout.readline() == "done\n"
            began_s = time.monotonic()
            next(data for name, data in found if name == "head" and data["done"] == done)
            late_s.append(time.monotonic() - began_s)
        writer.stdin.write("\n")
        writer.stdin.flush()
        assert next(d["status"] for n, d in found if n == "head" and d["status"] != "running")
        writer.communicate(timeout=20)
    # The goal is 200 ms (docs/studies.md); a busy machine may take fifty times that.
    assert sorted(late_s)[len(late_s) // 2] < 10


@pytest.fixture
def place(store: Path, tmp_path: Path) -> Path:
    """A copy of the store, to be changed."""
    return shutil.copy(store, tmp_path / "store.sqlite")


def test_a_removed_and_restored_store_is_shown(place: Path, tmp_path: Path) -> None:
    away = tmp_path / "away.sqlite"
    with serving(place) as server, events(server, f"run/{_SEARCH}/events") as found:
        next(data for name, data in found if name == "head")
        place.rename(away)
        told = next(data for name, data in found if name == "trouble")
        assert "removed or replaced" in told["message"] or "no store" in told["message"]
        assert asked(server, f"/{server.token}/run/{_SEARCH}")[0] == 500
        away.rename(place)
        assert next(data["done"] for name, data in found if name == "head") > 0


def test_a_deleted_run_is_reported(place: Path) -> None:
    with serving(place) as server, events(server, f"run/{_INTERRUPTED}/events") as found:
        next(data for name, data in found if name == "head")
        with open_store(str(place)) as records:
            records.delete_run(_INTERRUPTED)
        told = next(data for name, data in found if name == "trouble")
    assert told["message"] == f"run {_INTERRUPTED} was deleted"


def test_a_run_that_is_deleted_while_it_is_read_is_reported_as_deleted(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Watch._look_at_run

    def delete_first(watch: Watch, head: RunHead, pages: list[Page], records: Store) -> None:
        records.delete_run(head.run_id)
        real(watch, head, pages, records)

    monkeypatch.setattr(Watch, "_look_at_run", delete_first)
    with serving(place) as server, events(server, f"run/{_INTERRUPTED}/events") as found:
        told = next(data for name, data in found if name == "trouble")
    assert told["message"] == f"run {_INTERRUPTED} was deleted"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE run SET testbed = '[]' WHERE id = :run",
        "UPDATE run SET testbed = 'no JSON' WHERE id = :run",
        "UPDATE run SET study = '{\"experiment\": 7}' WHERE id = :run",
        "UPDATE run SET label = 'no JSON' WHERE id = :run",
        "UPDATE trial SET metrics = '[]', raw = '7' WHERE run_id = :run",
        "UPDATE trial SET factors = '{\"a\": {}}', raw = '{\"facts\": 7}' WHERE run_id = :run",
        "UPDATE trial SET status = 'eaten' WHERE run_id = :run",
    ],
)
def test_a_bad_row_affects_only_its_run(place: Path, change: str) -> None:
    with contextlib.closing(sqlite3.connect(place)) as connection, connection:
        # Which keep lanlab's own trials from being changed.
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        assert connection.execute(change, {"run": _FASTER}).rowcount
        for _, sql in triggers:
            connection.execute(sql)
    with (
        serving(place) as server,
        events(server, f"run/{_FASTER}/events") as bad,
        events(server, "events") as listed,
        events(server, f"run/{_SEARCH}/events") as good,
    ):
        html = next(data["html"] for name, data in listed if name == "runs")
        assert all(run in html for run in (_FASTER, _SEARCH, _DISTURBED))
        assert "59.7 … 95.5 Mbit/s in 14 conditions" in html.replace("\u00a0", " ")
        name, told = next(bad)
        # What of a run is bad says whether its head, its rows or its tables lack.
        while name != "trouble" and not (name == "tables" and "malformed" in told["html"]):
            name, told = next(bad)
        assert next(data["done"] for name, data in good if name == "head") > 0
        assert "html" in next(data for name, data in good if name == "tables")


def test_a_label_is_shown_and_follows_its_changes(place: Path) -> None:
    with (
        serving(place) as server,
        events(server, "events") as listed,
        events(server, f"run/{_SEARCH}/events") as found,
    ):
        next(data for name, data in listed if name == "runs")
        next(data for name, data in found if name == "head")
        with open_store(str(place)) as records:
            records.label_run(_SEARCH, RunLabel("before", "<b>new cable</b>", ("lab2", "old")))
        for html in (
            next(data["html"] for name, data in listed if name == "runs"),
            next(data["html"] for name, data in found if name == "head"),
        ):
            assert "before" in html and "lab2, old" in html
            assert "&lt;b&gt;new cable&lt;/b&gt;" in html


def test_a_browser_that_goes_away_is_forgotten(server: WebServer) -> None:
    with events(server, f"run/{_SEARCH}/events") as found:
        next(found)
        assert len(server.watch.pages) == 1
    until(lambda: server.watch.pages == (), "the browser to be forgotten")


def test_a_browser_that_does_not_read_is_disconnected() -> None:
    page = Page("a-run")
    for number in range(10_000):
        page.send("head", {"done": number})

    assert page.is_lost
    waiting = [page.events.get_nowait() for _ in range(page.events.qsize())]
    assert len(waiting) <= 400
    assert waiting[-1] is None


def test_nothing_is_drawn_for_a_run_that_measures(tmp_path: Path) -> None:
    made = synthetic_run("milanovic-srbljic", most_trials=3)
    place = tmp_path / "store.sqlite"
    _begun(place, made)
    with serving(place) as server, open_store(str(place)) as records:
        with records.acquire_run(made.run.id):
            records.commit_trial(made.trials[0])
            status, _, text = asked(server, f"/{server.token}/run/{made.run.id}/report")
            assert status == 409
            assert "still measuring" in text
        assert asked(server, f"/{server.token}/run/{made.run.id}/report")[0] == 200


def test_a_port_in_use_is_refused(server: WebServer, store: Path) -> None:
    with pytest.raises(UsageError, match="cannot be used"):
        WebServer(str(store), server.server_address[1])


def _connected(server: WebServer, count: int) -> list[socket.socket]:
    return [socket.create_connection((ADDRESS, server.server_address[1])) for _ in range(count)]


def _is_closed(one: socket.socket) -> bool:
    one.settimeout(PATIENCE_S)
    with contextlib.suppress(ConnectionError):
        while one.recv(65_536):
            pass
    return True


def test_slow_strangers_block_no_reader(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server._admission, "most_waiting", 20)
    held = _connected(server, 60)
    try:
        for one in held:
            with contextlib.suppress(ConnectionError):
                one.send(b"G")
        assert asked(server, f"/{server.token}/")[0] == 200
        # Not only once their time was over.
        assert not select.select([held[-1]], [], [], 0)[0]
        assert _is_closed(held[0])
    finally:
        for one in held:
            one.close()


def test_a_request_that_does_not_end_in_time_is_closed(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lanlab.web.admission.REQUEST_WITHIN_S", 0.3)
    (one,) = _connected(server, 1)
    with one, contextlib.suppress(ConnectionError):
        while not select.select([one], [], [], 0.05)[0]:
            one.send(b"G")


def test_request_headers_are_limited_in_memory(server: WebServer) -> None:
    """Of strangers with endless fields: 60 of them took 498 MB."""
    held = _connected(server, 60)
    fields = b"GET / HTTP/1.1\r\n" + 8 * (b"X-Many: " + 8000 * b"x" + b"\r\n")
    try:
        for one in held:
            one.settimeout(PATIENCE_S)
            with contextlib.suppress(ConnectionError):
                one.sendall(fields)
        assert all(map(_is_closed, held))
        assert asked(server, f"/{server.token}/")[0] == 200
    finally:
        for one in held:
            one.close()


def test_a_connection_with_the_token_is_used_again(server: WebServer) -> None:
    with _connected(server, 1)[0] as one:
        one.settimeout(5)
        request = f"GET /{server.token}/assets/run.js HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        one.sendall(2 * request)
        received = b""
        while received.count(b"HTTP/1.1 200 OK") < 2:
            piece = one.recv(65_536)
            assert piece
            received += piece


def _room_cases() -> Iterator[tuple[list[list[int]], int]]:
    """Cases of the rule by which the engine's servers evict clients, with the first one evicted.
    Only the token shows that a client is served; six requests do elsewhere.
    """
    cases = Path(__file__).parents[2] / "crates/units/tests/room_cases.txt"
    for line in cases.read_text().splitlines():
        if not line.startswith("#"):
            given, _, evicted = line.split("|")
            clients = [[int(part) for part in one.split(":")] for one in given.split()]
            if evicted.strip() and all(requests in (0, 6) for _, requests, _ in clients):
                yield clients, int(evicted.split()[0])


@pytest.mark.parametrize(("clients", "first"), list(_room_cases()))
def test_the_least_useful_connection_is_dropped_by_the_common_rule(
    clients: list[list[int]], first: int
) -> None:
    listening = socket.create_server((ADDRESS, 0))
    admission = Admission(listening, lambda waiting, head: None)
    ends = [socket.socketpair() for _ in clients]
    with listening:
        waiting = [
            Waiting(end, f"127.0.0.{address}", is_known=requests == 6)
            for (end, _), (address, requests, _) in zip(ends, clients, strict=True)
        ]
        # The one that has waited longest came first.
        for place in sorted(range(len(clients)), key=lambda place: -clients[place][2]):
            admission._add(waiting[place])
        assert admission._least_useful() is waiting[first]
        admission.stop()
        admission.run(0)
    for _, other in ends:
        other.close()


def test_a_record_without_some_numbers_is_read_once(tmp_path: Path) -> None:
    made, place = synthetic_run("manford-kolahi", most_trials=3), tmp_path / "store.sqlite"
    with open_store(str(place)) as records:
        records.start_run(made.run).release()
        for trial, number in zip(made.trials, (0, 7, 2**62), strict=True):
            records.commit_trial(replace(trial, number=number))
    rows = 0
    with serving(place) as server, events(server, f"run/{made.run.id}/events") as found:
        for name, data in found:
            rows += len(data["rows"]) if name == "rows" else 0
            if name == "tables" or rows > 3:
                break
    assert (name, rows) == ("tables", 3)


def test_a_page_of_a_run_without_a_testbed_is_answered(tmp_path: Path) -> None:
    made, place = synthetic_run("manford-kolahi", most_trials=1), tmp_path / "store.sqlite"
    with open_store(str(place)) as records:
        records.start_run(replace(made.run, testbed={})).release()
    with serving(place) as server:
        status, _, text = asked(server, f"/{server.token}/run/{made.run.id}")
    assert (status, "cannot show this page" in text.lower()) == (500, True)
