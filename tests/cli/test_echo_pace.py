"""How quickly connections to a peer are opened where no pace is asked for."""

import pytest
from command_line import Lanlab

from lanlab.cli import single
from lanlab.errors import UsageError


@pytest.mark.parametrize(
    ("arguments", "pace"),
    [
        (["--peer", "tcp://nas:445"], ("10", None)),
        (["--peer", "tcp://nas:445", "--requests", "100"], ("10", None)),
        (["--peer", "tcp://nas:445,tcp://old:80"], ("10", None)),
        (["--peer", "tcp://nas:445", "--rate", "1000"], ("1000", None)),
        (["--peer", "tcp://nas:445", "--outstanding", "1"], (None, "1")),
        (["--peer", "echo://nas"], (None, None)),
        (["--peer", "icmp://router"], (None, None)),
        ([], (None, None)),
    ],
)
def test_openings_of_connections_do_not_fill_a_servers_queue(
    arguments: list[str],
    pace: tuple[str | None, str | None],
    lanlab: Lanlab,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def measure(workload: str, given: dict[str, str | None], settings: object) -> None:
        raise UsageError(f"{given['rate_requests_per_s']} {given['outstanding_requests']}")

    monkeypatch.setattr(single, "measure", measure)
    assert f"error: {pace[0]} {pace[1]}\n" in lanlab("echo", *arguments).err
