"""Whether the network is the limit of large files."""

from dataclasses import replace
from pathlib import Path

import pytest

from lanlab.analysis.links.limits import tcp_limit_bps
from lanlab.nas import network
from lanlab.report.answer.purposes import network_sentence
from lanlab.store import TrialRecord

NAMES = {"smb://nas/a": "SMB", "nfs://nas/a": "NFS"}
LIMIT_BPS = tcp_limit_bps(1e9, 4)


def trials(**ratios: tuple[float, ...]) -> list[TrialRecord]:
    """Two directions for each service, as shares of the limit."""
    servers = {name.lower(): url for url, name in NAMES.items()}
    return [
        TrialRecord(
            run_id="r",
            number=0,
            experiment=f"large-{way}-1",
            workload="copy",
            factors={"server": servers[name]},
            parameters={},
            block=0,
            purpose="trial",
            status="done",
            started_at="",
            elapsed_s=1.0,
            metrics={"goodput_bps": ratio * LIMIT_BPS},
            raw={},
            error=None,
        )
        for name, own in ratios.items()
        for way, ratio in zip(("upload", "download"), own, strict=True)
    ]


@pytest.mark.parametrize(
    ("smb", "nfs", "said"),
    [
        ((0.99, 0.98), (0.981, 1.0), "The network is the limit for large files (941 Mbit/s"),
        ((0.99, 0.98), (0.99, 0.97), "For large files the network is the limit of SMB (941"),
        ((0.97, 0.99), (0.5, 0.5), "Large files reach at most 99.0 % of the network (SMB; 941"),
        ((0.6, 0.5), (0.3, 0.4), "Large files reach at most 60.0 % of the network (SMB; 941"),
    ],
)
def test_services_as_fast_as_the_adapter_are_named(
    smb: tuple[float, ...], nfs: tuple[float, ...], said: str
) -> None:
    found = trials(smb=smb, nfs=nfs)
    sentence = network_sentence(found, NAMES, 1e9)
    assert sentence.startswith(said)
    assert sentence.endswith("it is not the limit.") == (max(*smb, *nfs) < 0.9)
    assert "the network is the limit is unknown" in network_sentence(found, NAMES, None)
    # Other tasks, and other services, do not count.
    small = [replace(one, experiment="small-upload-1", metrics={}) for one in found]
    assert network_sentence([*small, *found], NAMES, 1e9) == sentence
    # A failed trial has no rate.
    failed = [replace(one, status="failed", metrics={}) for one in found]
    assert network_sentence([*found, *failed], NAMES, 1e9) == sentence
    assert network_sentence(small, NAMES, 1e9) == ""


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_the_speed_is_that_of_the_adapter_to_the_host(tmp_path: Path, address: str) -> None:
    seen = {"eth7": {"addresses": [address], "speed_bps": 2.5e9}}
    facts = {"before": {"hosts": {"host0": {"interfaces": seen}}}}
    (one, *_) = trials(smb=(1.0, 1.0))
    found = [one, replace(one, raw={"facts": facts})]
    # A virtual adapter has no device.
    assert network.adapter_bps(address, found, tmp_path) is None
    (tmp_path / "eth7/device").mkdir(parents=True)
    assert network.adapter_bps(address, found, tmp_path) == 2.5e9
    assert network.adapter_bps("192.0.2.1", found, tmp_path) is None
