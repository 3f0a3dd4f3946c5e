"""What a measurement is of, in one line."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from lanlab.report.trials.subject import places, subject
from lanlab.workloads import workload


def complete(name: str, **given: Any) -> dict[str, Any]:
    return workload(name).Parameters.model_validate(given).model_dump(exclude_none=True)


@pytest.mark.parametrize(
    ("name", "given", "varied"),
    [
        ("stream", {"time_s": 3}, ()),
        (
            "stream",
            {
                "time_s": 0.25,
                "transport": "tcp",
                "message_size_bytes": 131_072,
                "flows": 4,
                "ip_version": 6,
                "traffic_direction": "both",
            },
            (),
        ),
        ("stream", {"messages": 1_000, "rate_messages_per_s": 50}, ()),
        ("stream", {"time_s": 1, "rate_bps": 5_000_000}, ("message_size_bytes", "rate_bps")),
        ("echo", {"time_s": 3, "message_size_bytes": 128}, ()),
        ("echo", {"requests": 10, "message_size_bytes": 64, "rate_requests_per_s": 1000}, ()),
        ("load", {"load": "up", "message_size_bytes": 16_384}, ("load",)),
        ("copy", {"dataset": "mixed", "server": "smb://nas/share", "parallel_files": 4}, ()),
        ("copy", {"dataset": "mixed", "service": "sftp", "direction": "download"}, ()),
        ("copy", {"dataset": "mixed", "service": "sftp"}, ("service",)),
        ("stations", {"service": "smb", "operation": "mix", "time_s": 10}, ("stations",)),
    ],
)
def test_a_title_names_the_measured_service(
    name: str, given: dict[str, Any], varied: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    assert subject(name, complete(name, **given), varied) == snapshot


@pytest.mark.parametrize(
    ("testbed", "link", "parameters", "said"),
    [
        ("virtual", None, {}, "over a virtual link (unshaped)"),
        ("loopback", None, {}, "over loopback"),
        ("virtual", "10M", {"server": "smb://nas/share"}, ""),
        ("ssh:here,alice@nas:2222", None, {}, "from here to alice@nas:2222"),
        ("ssh:here,nas", None, {"traffic_direction": "both"}, "between here and nas"),
        ("ssh:here,nas", None, {"direction": "download"}, "from nas to here"),
        ("ssh:pc1,here,pc2", None, {"server": "smb://nas/share"}, "from pc1 and pc2"),
    ],
)
def test_a_title_names_source_and_target(
    testbed: str, link: str | None, parameters: dict[str, Any], said: str
) -> None:
    assert places(testbed, link, parameters) == said
