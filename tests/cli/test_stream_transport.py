"""Which transport a stream has where none is asked for."""

import pytest
from command_line import Lanlab

from lanlab.cli import single
from lanlab.errors import UsageError


@pytest.mark.parametrize(
    ("arguments", "transport"),
    [
        ([], None),
        (["--link", "10M"], None),
        (["--to", "nas"], "tcp"),
        (["--from", "pc", "--to", "nas"], "tcp"),
        (["--to", "nas", "--transport", "udp"], "udp"),
        (["--to", "nas", "--rate", "10M"], None),
        (["--to", "nas", "--flow-rate", "10M"], None),
        (["--to", "nas", "--io", "batch"], None),
    ],
)
def test_unlimited_udp_on_a_shared_network_needs_permission(
    arguments: list[str],
    transport: str | None,
    lanlab: Lanlab,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def measure(workload: str, given: dict[str, str | None], settings: object) -> None:
        raise UsageError(f"{workload} over {given['transport']}")

    monkeypatch.setattr(single, "measure", measure)
    assert f"stream over {transport}" in lanlab("stream", *arguments).err
