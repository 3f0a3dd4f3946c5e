"""A parameter that has no effect in a condition is refused, on the command line and in a study."""

from typing import Any

import pytest
from pydantic import ValidationError

from lanlab.service_options import OPTIONS
from lanlab.workloads import WORKLOADS
from lanlab.workloads import without_effect as table

TCP = {"transport": "tcp"}
TIME = {"time_s": 1}
COPY_SMALL = {"service": "ftp", "stack": "small", "stack_address": "10.0.0.9"}
SMALL = {**TCP, "stack": "small", "stack_address": "10.0.0.9", "peer": "tcp://10.0.0.1:5001"}
#: Of each workload: a parameter and its value, what is wrong for it, what it needs.
CASES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("stream", {"nodelay": True, **TIME}, {}, TCP),
    ("echo", {"nodelay": True, **TIME}, {}, TCP),
    ("stream", {"timestamps": "kernel", **TIME}, TCP, {}),
    ("echo", {"timestamps": "kernel", **TIME}, {"rate_requests_per_s": 9}, {}),
    ("echo", {"timestamps": "kernel", **TIME}, {"outstanding_requests": 9}, {}),
    ("echo", {"outstanding_requests": 9, **TIME}, {"rate_requests_per_s": 9}, {}),
    ("stream", {"read_bytes": 2000, **TIME}, {}, TCP),
    ("stream", {"drain_s": 1, **TIME}, TCP, {}),
    ("stream", {"when_late": "skip", **TIME}, {}, {"rate_bps": "1M"}),
    ("stream", {"stack": "small", **TIME}, TCP, SMALL),
    ("stream", {"stack_address": "10.0.0.9", **TIME}, TCP, SMALL),
    ("stream", {"stack_profile": "mtcp", **TIME}, TCP, SMALL),
    ("stream", {"stack_memory_bytes": "48kB", **TIME}, TCP, SMALL),
    ("stream", {"receiver_rivals": 1, **TIME}, {}, {"receiver_processor": 0}),
    ("copy", {"stack": "small"}, {"service": "sftp"}, COPY_SMALL),
    ("copy", {"stack_address": "10.0.0.9"}, {"service": "ftp"}, COPY_SMALL),
    ("copy", {"stack_profile": "mtcp"}, {"service": "ftp"}, COPY_SMALL),
    ("copy", {"stack_memory_bytes": "180kB"}, {"service": "ftp"}, COPY_SMALL),
    ("copy", {"medium": "disk"}, {"dataset": "dir:/tmp"}, {"dataset": "many-small"}),
    ("copy", {"signing": "required"}, {"service": "smb"}, {"service": "smb1"}),
    (
        "copy",
        {"wins": "192.0.2.7"},
        {"server": "smb1://192.0.2.9/files"},
        {"server": "smb1://old-box/files"},
    ),
    ("copy", {"dialect": "core"}, {"service": "smb"}, {"service": "smb1"}),
    ("copy", {"profile": "pc-lan-program"}, {"service": "smb1"}, {"service": "smb1+nbf"}),
    ("copy", {"raw": True}, {}, {"service": "smb1", "server": "samba"}),
    ("stations", {"packet_burst": "off"}, {"service": "smb1"}, {"service": "ncp"}),
    ("stations", {"tcp_profile": "nt4"}, {}, {"service": "smb1", "server": "samba"}),
    ("copy", {"ip_version": 6}, {"service": "smb1+nbf"}, {"service": "smb1"}),
    ("copy", {"ipx_framing": "snap"}, {"service": "smb1+nbf"}, {"service": "smb1+nbipx"}),
    ("stations", {"ipx_network": "1A"}, {"service": "smb1+spp"}, {"service": "ncp"}),
    ("copy", {"port": 4450}, {"server": "sftp://nas/files"}, {"service": "sftp"}),
    ("copy", {"port": 4450}, {"server": "samba", "service": "smb"}, {"service": "smb"}),
    ("stations", {"port": 4450}, {"service": "memory"}, {"service": "nfs"}),
    ("stations", {"arrivals": "fixed"}, {}, {"loop": "open", "rate_operations_per_s": 9}),
    ("stations", {"sync": "each"}, {}, {"operation": "write"}),
    ("stations", {"read_ratio": 0.7}, {}, {"operation": "mix"}),
]


@pytest.mark.parametrize(("workload", "given", "wrong", "right"), CASES)
def test_a_parameter_is_refused_without_its_companion(
    workload: str, given: dict[str, Any], wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    parameters = WORKLOADS[workload].Parameters

    parameters.model_validate({**given, **right})
    with pytest.raises(ValidationError, match=f"{next(iter(given))} has no effect here; it needs "):
        parameters.model_validate({**given, **wrong})


def test_every_need_is_tried() -> None:
    needs = [name for name in dir(table) if name.endswith("_NEEDS")]
    keys = {need.key for name in needs for need in getattr(table, name)}

    assert keys | set(OPTIONS) == {next(iter(given)) for _, given, _, _ in CASES}
