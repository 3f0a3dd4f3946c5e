"""What a measurement is of, in one line."""

from typing import Any

import pytest

from lanlab.report.trials.subject import places, subject
from lanlab.workloads import workload


def complete(name: str, **given: Any) -> dict[str, Any]:
    return workload(name).Parameters.model_validate(given).model_dump(exclude_none=True)


@pytest.mark.parametrize(
    ("name", "given", "varied", "said"),
    [
        (
            "stream",
            {"time_s": 3},
            (),
            "UDP stream, 1408-byte messages as fast as possible, 1 flow, 3 s",
        ),
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
            "TCP stream over IPv6, 128 KiB writes as fast as possible, 4 flows, "
            "both ways at once, 250 ms",
        ),
        (
            "stream",
            {"messages": 1_000, "rate_messages_per_s": 50},
            (),
            "UDP stream, 1408-byte messages at 50 messages/s, 1 flow, 1,000 in all",
        ),
        (
            "stream",
            {"time_s": 1, "rate_bps": 5_000_000},
            ("message_size_bytes", "rate_bps"),
            "UDP stream, 1 flow, 1 s, by message size and rate",
        ),
        (
            "echo",
            {"time_s": 3, "message_size_bytes": 128},
            (),
            "UDP echo, 128-byte requests, 1 at a time, 3 s",
        ),
        (
            "echo",
            {"requests": 10, "message_size_bytes": 64, "rate_requests_per_s": 1000},
            (),
            "UDP echo, 64-byte requests, 1,000 requests/s, 10 in all",
        ),
        (
            "load",
            {"load": "up", "message_size_bytes": 16_384},
            ("load",),
            "round trips alone and with TCP streams, 4 flows in each direction, "
            "16 KiB writes as fast as possible, 64-byte requests, 5 s, by direction of the streams",
        ),
        (
            "copy",
            {"dataset": "mixed", "server": "smb://nas/share", "parallel_files": 4},
            (),
            "SMB upload of mixed to smb://nas/share, 4 files at once",
        ),
        (
            "copy",
            {"dataset": "mixed", "service": "sftp", "direction": "download"},
            (),
            "SFTP download of mixed from lanlab's server",
        ),
        (
            "copy",
            {"dataset": "mixed", "service": "sftp"},
            ("service",),
            "upload of mixed to lanlab's server, by service",
        ),
        (
            "stations",
            {"service": "smb", "operation": "mix", "time_s": 10},
            ("stations",),
            "SMB reads and writes of 6000-byte blocks, at lanlab's server, 10 s, "
            "by number of stations",
        ),
    ],
)
def test_a_title_names_the_measured_service(
    name: str, given: dict[str, Any], varied: tuple[str, ...], said: str
) -> None:
    assert subject(name, complete(name, **given), varied) == said


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
