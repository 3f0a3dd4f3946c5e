"""`lanlab peer`: what it refuses, and what it says of clients."""

import json
import signal
from typing import Any

import pytest
from command_line import Lanlab, Said

from lanlab.cli import INTERRUPTED
from lanlab.cli.serving.peers import BoundedLines, client_text, done_text
from lanlab.engine import Engine


@pytest.mark.parametrize("argv", [("peer", "iperf3", "--port", "0"), ("serve", ".")])
def test_a_server_that_is_interrupted_before_it_serves_has_not_done_its_work(
    lanlab: Lanlab, argv: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Engine, "start", interrupted)
    assert lanlab(*argv) == Said(1, "", f"{INTERRUPTED}\n")


def flow(octets: int, **counts: int) -> dict[str, Any]:
    zeros = dict.fromkeys(("packets", "omitted_packets", "errors", "omitted_errors"), 0)
    return {"bytes": octets, "end_time": 2.0, **zeros, **counts}


def client(**known: Any) -> dict[str, Any]:
    nothing = {
        "number": 7,
        "address": "192.168.7.9:40001",
        "asked": None,
        "said": None,
        "error": None,
        "counted": {"report": None},
        "clients_at_once": 1,
        "moved_bytes": 0,
        "moved_for_all_bytes": 0,
        "received_bytes": 0,
        "sent_bytes": 0,
        "elapsed_ns": 2_000_000_000,
    }
    return nothing | known


def test_both_counts_of_a_client_are_shown_if_they_differ() -> None:
    asked = {"transport": "udp", "flows": 1, "sends": True, "receives": True}
    ours = {"streams": [flow(9_000_000, packets=9_010, errors=10), flow(5_000_000)]}
    theirs = {"streams": [flow(9_010_000), flow(5_000_000)]}
    text = client_text(
        client(
            asked=asked,
            said=ours,
            counted={"report": theirs},
            clients_at_once=4,
            moved_bytes=1,
            moved_for_all_bytes=4,
        )
    )
    assert text == (
        "client 7    192.168.7.9:40001  UDP, 1 flow; received 9.00 MB, 36.0 Mbit/s, 10 of 9010 "
        "lost (it sent 9.01 MB); sent 5.00 MB, 20.0 Mbit/s; 25.0 % of what was moved; "
        "4 clients at once"
    )


def test_a_client_without_a_protocol_is_reported_by_local_counts() -> None:
    text = client_text(client(received_bytes=1_000_000, sent_bytes=2_000_000))
    assert text.endswith("received 1.00 MB, 4.00 Mbit/s; its TCP acknowledged 2.00 MB, 8.00 Mbit/s")
    gone = client(error={"code": "client.gone", "message": "the client reset its connection"})
    assert client_text(gone).endswith("40001  the client reset its connection")


def test_shares_of_concurrent_clients_are_reported_at_the_end() -> None:
    done = {"clients": 3, "refused": 1, "silent": 2, "elapsed_ns": 10**10, "moved_bytes": 4_000_000}
    together = {"time_ns": 1_500_000_000, "bytes": [1_000_000, 3_000_000]}
    assert done_text({**done, "together": together}) == (
        "served      3 clients in 10 s, 4.00 MB; 1 refused: too many at once; "
        "2 connections that began no test\n"
        "together    2 clients for 1.5 s: 25.0 to 75.0 % each, Jain's index 0.800"
    )
    assert "together" not in done_text({**done, "together": None})


def test_strangers_cause_few_lines_and_hide_no_result() -> None:
    lines = BoundedLines(as_json=False)
    printed: list[str] = []
    for number in range(17_000):
        now_s = 100 + number / 2000
        printed += lines.of(client(received_bytes=1), now_s)
        if number % 5000 == 0:
            printed += lines.of(client(received_bytes=1_000_000), now_s)
    printed += lines.summary()
    served = [line for line in printed if "received 1.00 MB" in line]
    summaries = [line for line in printed if line.startswith("…")]
    assert (len(served), len(printed)) == (4, 4 + 10 + 1 + 2)
    assert summaries == [
        "… 10,000 more clients, 0 of them served; 10.0 kB",
        "… 6,989 more clients, 0 of them served; 6.99 kB",
    ]


def test_many_served_clients_are_summarised_too() -> None:
    lines = BoundedLines(as_json=True)
    moved = client(sent_bytes=1_000_000)
    printed = [line for tenth in range(100) for line in lines.of(moved, 100 + tenth / 10)]
    found = [json.loads(line) for line in [*printed, *lines.summary()]]
    shown = [one for one in found if "left_out" not in one]
    left_out = 100 - len(shown)
    assert len(shown) == 30 + 39
    assert sum(one.get("left_out", 0) for one in found) == left_out
    assert sum(one.get("moved_bytes", 0) for one in found if "left_out" in one) == left_out * 10**6
    assert lines.summary() == []
