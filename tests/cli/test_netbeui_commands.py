"""`copy` and `stations` over NetBEUI: between hosts of a virtual LAN, and by an interface."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command_line import COMMAND
from missing import missing
from netbeui_cable import cable, dissected

from lanlab.engine import Engine, engine_path
from lanlab.store import open_store
from lanlab.testbeds.namespaces import Namespace

if TYPE_CHECKING:
    from conftest import Lanlab

__all__ = ["cable"]

_LINK = ("--link", "10M", "--trials", "1")


@pytest.mark.parametrize("way", [(), ("--download",)], ids=["upload", "download"])
def test_a_copy_sends_only_netbeui_frames(
    lanlab: Lanlab, tmp_path: Path, way: tuple[str, ...]
) -> None:
    pcap = tmp_path / "frames.pcap"
    service = ("--service", "smb1", "--carrier", "nbf") if way else ("--service", "smb1+nbf")
    said = lanlab("copy", "30x6kB", *service, *_LINK, "--pcap", str(pcap), "--json", *way)
    assert said.code == 0, said.err
    found: dict[str, Any] = json.loads(said.out)
    assert (found["copied_files"], found["copied_bytes"]) == (30, 180_000)
    assert (found["faults"], found["retries"]) == (0, 0)
    assert found["parameters"]["service"] == "smb1+nbf"
    assert found["parameters"]["carrier"] == "nbf"
    if shutil.which("tshark") is None:
        missing("`tshark` is not installed")
    broken = dissected(pcap, "-Y", "_ws.malformed || _ws.expert.severity == error")
    assert broken == []
    # Neighbour discovery of IPv6 and the like is the system's own.
    assert dissected(pcap, "-Y", "ip || (llc && !netbios && !(llc.dsap == 0xf0))") == []
    assert len(dissected(pcap, "-Y", "smb")) > 200


def test_blocks_beyond_the_buffer_of_the_pc_lan_program_are_split(
    lanlab: Lanlab, tmp_path: Path
) -> None:
    """As a redirector of the time does: whole sectors in as many reads as it takes, one dialect,
    and a share without a login."""
    pcap = tmp_path / "frames.pcap"
    said = lanlab(
        *("stations", "--service", "smb1+nbf", "--profile", "pc-lan-program", "--stations", "2"),
        *("--link", "2M:broadband", "--trials", "1", "--size", "6000", "--read"),
        *("--readings", "10", "--file-size", "60k", "--pcap", str(pcap), "--json"),
    )
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert [trial["errors"] for trial in found["trials"]] == [0]
    if shutil.which("tshark") is None:
        missing("`tshark` is not installed")
    assert dissected(pcap, "-Y", "_ws.malformed || _ws.expert.severity == error") == []

    def told(asked: str, field: str) -> set[str]:
        return set(dissected(pcap, "-Y", asked, "-T", "fields", "-e", field))

    asked = "smb.flags.response == 0"
    assert told(f"{asked} && smb.cmd == 0x72", "smb.dialect.name") == {"PC NETWORK PROGRAM 1.0"}
    assert told("smb.cmd == 0x73", "frame.number") == set()
    assert told("smb.cmd == 0x70 && smb.flags.response == 1", "smb.max_buf") == {"2112"}
    assert told(f"{asked} && smb.cmd == 0x0a", "smb.count") == {"2048", "1904"}


def test_stations_read_blocks_over_one_link(lanlab: Lanlab) -> None:
    said = lanlab(
        *("stations", "--service", "smb1+nbf", "--stations", "1,3", "--size", "750", "--read"),
        *(*_LINK, "--file-size", "15k", "--time", "500ms", "--json"),
    )
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert "errors" in json.dumps(found)
    rates = [trial["operations_per_s"] for trial in found["trials"]]
    assert len(rates) == 2
    assert all(rate > 10 for rate in rates)
    for trial in found["trials"]:
        # The rate is of the steady part: each of its operations sends a request.
        steady_s = (trial["steady_end_ns"] - trial["steady_start_ns"]) / 1e9
        assert trial["frames_sent"] > trial["operations_per_s"] * steady_s > 0
        assert (trial["frames_lost_here"], trial["frames_discarded"]) == (0, 0)
    # Both ends of each trial are in the record.
    with open_store() as store:
        (run,) = store.runs()
        for record in store.trials(run.id):
            client, server = (record.raw[role]["carrier"] for role in ("client", "server"))
            assert client["sent_frames"] == record.metrics["frames_sent"]
            assert server["received_frames"] >= client["sent_frames"]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("--service", "ftp", "--carrier", "nbf"), "--service `ftp` does not run over `nbf`"),
        (("--service", "smb1", "--carrier", "spx"), "--carrier: found `spx`; allowed: tcp, nbf"),
        (("--service", "smb1+nbf", "--carrier", "tcp"), "does not run over `tcp`"),
        (("--service", "smb1+nbf", "--server", "samba"), "found --server `samba`"),
        (("--service", "smb1+nbf", "--ip", "6"), "--ip has no effect"),
        (("--service", "smb1+nbf", "--testbed", "loopback"), "needs an Ethernet"),
        (("--service", "smb1+nbf", "--interface", "eth1"), "--interface has no effect here"),
        (("smb1+nbf://SERVER/DATA",), "needs an Ethernet interface"),
        (("smb1+nbf://SERVER:139/DATA",), "servers have no port"),
        (("smb1+nbf://SERVER/DATA", "--interface", "none"), "no Ethernet interface named `none`"),
    ],
)
def test_invalid_netbeui_options_are_refused(
    lanlab: Lanlab, argv: tuple[str, ...], expected: str
) -> None:
    said = lanlab("copy", "2x6kB", *argv)
    assert (said.code, said.out) == (2, "")
    assert expected in said.err


def test_a_server_is_reached_by_its_name_and_an_interface(
    cable: tuple[Namespace, Namespace], tmp_path: Path
) -> None:
    here, there = cable
    served = tmp_path / "served"
    served.mkdir()
    with Engine("there", [*there.command_prefix, engine_path()]) as engine:
        serving = engine.start(
            {
                "type": "serve",
                "service": "smb1",
                "root": str(served),
                "bind": "127.0.0.1",
                "carrier": "nbf",
                "link": {"interface": "right"},
                "station_name": "CNCFILES",
                "credentials": {"user": "ann", "secret": "secret"},
            }
        )
        share = serving.wait_ready(60)["served"]["share"]
        url = f"smb1+nbf://ann@cncfiles/{share}"
        argv = ["copy", "20x6kB", url, "--interface", "left", "--trials", "1", "--json"]
        run = subprocess.run(
            [*here.command_prefix, *COMMAND, *argv, "--store", str(tmp_path / "store.sqlite")],
            env=os.environ | {"LANLAB_PASSWORD": "secret"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert (found["copied_files"], found["faults"]) == (20, 0)
    assert found["testbed"] == "this machine to cncfiles"
    assert list(served.iterdir()) == [], "what was written is removed"
