"""What `doctor` makes of the longest packets that pass between two hosts."""

from typing import Any

from lanlab.run.host_checks import _longest

SHORT = {"least_bytes": 1400, "most_bytes": 1400}
PATH: dict[str, Any] = {
    "interface_mtu_bytes": 1500,
    "sender_mtu_bytes": 1500,
    "there": SHORT,
    "back": SHORT,
    "was_told": False,
}


def test_only_silent_packet_loss_fails_a_check() -> None:
    lost = _longest("pc1 to nas", PATH)
    assert (lost.found, lost.required) == (False, True)
    assert "MTU of both interfaces to 1400" in lost.how_to_get
    told = _longest("pc1 to nas", PATH | {"was_told": True})
    assert (told.found, told.required, told.how_to_get) == (False, False, "")
    whole = {"least_bytes": 1500, "most_bytes": 1500}
    passes = _longest("pc1 to nas", PATH | {"there": whole, "back": whole})
    assert (passes.found, passes.detail) == (True, "up to 1500 B pass, and back")
    unknown = _longest("pc1 to nas", PATH | {"there": None, "error": "no such call"})
    assert (unknown.found, unknown.required) == (True, False)
    assert "no such call" in unknown.detail
