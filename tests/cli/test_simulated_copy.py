"""`lanlab copy` between simulated machines, judged by its frames."""

from pathlib import Path

import pytest
from command_line import Lanlab
from netbeui_cable import dissected
from peer_finding import peer_program

PC = "celeron400-w2ksp2"
SITE = ("--testbed", "simulated", "--machines", f"{PC},{PC}", "--link", "10M:hub")


@pytest.mark.parametrize("service", ["smb1", "smb1+nbf"])
def test_tshark_reads_the_frames_of_a_simulated_copy(
    lanlab: Lanlab, tmp_path: Path, service: str
) -> None:
    peer_program("tshark")
    pcap = tmp_path / "frames.pcap"
    calls = ("--service", service, "--block", "4096", "--depth", "1")
    said = lanlab("copy", "3x20kB", *SITE, *calls, "--trials", "1", "--pcap", str(pcap))
    assert said.code == 0, said.err
    assert "every byte compared" in said.out
    assert not dissected(pcap, "-Y", "_ws.malformed")
    assert len(dissected(pcap, "-Y", "smb.cmd == 0x2f && smb.flags.response == 0")) == 3 * 5
    assert len(dissected(pcap, "-Y", "smb.cmd == 0x04 && smb.flags.response == 1")) == 3


@pytest.mark.parametrize("direction", [(), ("--download",)])
def test_tshark_reads_the_frames_of_a_simulated_ftp_copy(
    lanlab: Lanlab, tmp_path: Path, direction: tuple[str, ...]
) -> None:
    peer_program("tshark")
    pcap = tmp_path / "frames.pcap"
    asked = ("--service", "ftp", "--trials", "1", "--pcap", str(pcap))
    said = lanlab("copy", "3x20kB", *direction, *SITE, *asked)
    assert said.code == 0, said.err
    assert "every byte compared" in said.out
    assert not dissected(pcap, "-Y", "_ws.malformed || tcp.analysis.retransmission")
    assert not dissected(pcap, "-Y", "tcp.analysis.reused_ports")
    assert len(dissected(pcap, "-Y", "ftp.response.code == 226")) == 3
    sizes = dissected(pcap, "-Y", "ftp-data", "-T", "fields", "-e", "tcp.len")
    assert sum(map(int, sizes)) == 3 * 20_000


def test_an_unsimulated_service_is_refused_with_the_simulated_ones(lanlab: Lanlab) -> None:
    said = lanlab("copy", "3x20kB", *SITE, "--service", "sftp")
    assert said.code == 2
    expected = (
        "error: service: found `sftp`; allowed on testbed `simulated`: ftp, smb1, smb1+nbf, "
        "smb1+ipx, smb1+nbipx, smb1+spp, ncp\n"
    )
    assert said.err == expected + "hint: run it on testbed `virtual`\n"


def test_another_amount_is_not_compared_with_the_publication(lanlab: Lanlab) -> None:
    ran = lanlab("run", "schomer-claason", "--testbed", "simulated", "--scale", "tiny")
    assert ran.code == 0, ran.err
    said = lanlab("show", "last")
    assert ", of 62.3 kB" in said.out
    assert "Simulated and published values" not in said.out


def test_tshark_reads_the_frames_of_simulated_stations(lanlab: Lanlab, tmp_path: Path) -> None:
    peer_program("tshark")
    pcap = tmp_path / "frames.pcap"
    asked = ("--stations", "3", "--readings", "10", "--size", "750", "--service", "smb1+nbf")
    dialect = ("--dialect", "core", "--trials", "1", "--pcap", str(pcap))
    said = lanlab("stations", *SITE, *asked, *dialect)
    assert said.code == 0, said.err
    assert "method  SMB 1, PC NETWORK PROGRAM 1.0, no login" in said.out
    assert not dissected(pcap, "-Y", "_ws.malformed")
    assert len(dissected(pcap, "-Y", "smb.cmd == 0x0a && smb.flags.response == 0")) == 3 * 10
