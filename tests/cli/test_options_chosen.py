"""The transport and the pace that a measurement chooses where none is asked for."""

import pytest
from command_line import Lanlab

from lanlab.cli.running import single
from lanlab.errors import UsageError

CHOSEN = {"stream": ("transport",), "echo": ("rate_requests_per_s", "outstanding_requests")}


@pytest.mark.parametrize(
    ("line", "values"),
    [
        # Unlimited UDP on a shared network needs permission.
        ("stream", [None]),
        ("stream --link 10M", [None]),
        ("stream --to nas", ["tcp"]),
        ("stream --from pc --to nas", ["tcp"]),
        ("stream --to nas --transport udp", ["udp"]),
        ("stream --to nas --rate 10M", [None]),
        ("stream --to nas --flow-rate 10M", [None]),
        ("stream --to nas --io batch", [None]),
        # Openings of connections do not fill a server's queue.
        ("echo --peer tcp://nas:445", ["10", None]),
        ("echo --peer tcp://nas:445 --requests 100", ["10", None]),
        ("echo --peer tcp://nas:445,tcp://old:80", ["10", None]),
        ("echo --peer tcp://nas:445 --rate 1000", ["1000", None]),
        ("echo --peer tcp://nas:445 --outstanding 1", [None, "1"]),
        ("echo --peer echo://nas", [None, None]),
        ("echo --peer icmp://router", [None, None]),
        ("echo", [None, None]),
    ],
)
def test_shared_networks_and_servers_are_spared(
    line: str, values: list[str | None], lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(workload: str, given: dict[str, str | None], settings: object) -> None:
        raise UsageError(f"{[given[key] for key in CHOSEN[workload]]}")

    monkeypatch.setattr(single, "measure", measure)
    assert f"error: {values}\n" in lanlab(*line.split()).err
