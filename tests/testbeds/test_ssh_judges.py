"""Measurements between hosts reached by ssh, compared with independent ones."""

import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from captures import captured, iperf3_goodput_bps
from ssh_hosts import SshHost, SshLan, finished, ssh_lan

import lanlab.studies
from lanlab.testbeds.counters import read_interfaces

LINK = "10M"
#: Most that the control connection of a host may carry while a trial runs, octets of its frames.
MOST_CONTROL_BYTES_PER_S = 1000


@pytest.fixture(scope="module")
def lan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshLan]:
    """The hosts `pc1` and `nas`, to be measured over a cable of lanlab's own medium."""
    with ssh_lan(tmp_path_factory.mktemp("ssh"), link=LINK) as opened:
        yield opened


def octets(host: SshHost, interface: str) -> tuple[int, int]:
    found = read_interfaces(Path(f"/proc/{host.server.pid}/net/dev"))[interface]
    return found["rx_bytes"], found["tx_bytes"]


def test_tshark_counts_the_same_at_both_hosts(lan: SshLan) -> None:
    pc1, nas = lan.hosts
    with captured([pc1.host, nas.host], pc1.host, nas.address, 500) as end:
        found = lan.measured(
            *("stream", *lan.ends(), "--size", "500", "--messages", "300"),
            *("--message-rate", "1000", "--warmup", "0"),
        )
        sent, received = end()
    assert found["sent_messages"] == len(sent) == 300
    assert found["received_messages"] == len(received) == 300


@pytest.mark.figures
def test_iperf3_measures_the_same_goodput(lan: SshLan) -> None:
    pc1, nas = lan.hosts
    ours = ("stream", *lan.ends(), "--transport", "udp", "--size", "1408", "--time", "1")
    ours_bps = lan.measured(*ours)["goodput_bps"]
    theirs_bps = iperf3_goodput_bps(pc1.host, nas.host, nas.address, 1408, time_s=2)
    near = ours_bps == pytest.approx(theirs_bps, rel=0.01)
    assert near, f"ours {ours_bps:.0f}, iperf3's {theirs_bps:.0f} bit/s"


def control_rates(lan: SshLan, command: subprocess.Popen[str]) -> dict[str, float]:
    """Octets per second on the management link of each host, while the measured link carries a
    stream: from 0.5 s after its begin to 0.5 s before its end."""
    seen: list[tuple[float, list[int]]] = []
    carried = [octets(host, "eth0") for host in lan.hosts]
    while command.poll() is None:
        time.sleep(0.1)
        before, carried = carried, [octets(host, "eth0") for host in lan.hosts]
        if all(sum(now) - sum(then) > 10_000 for now, then in zip(carried, before, strict=True)):
            seen.append((time.monotonic(), [sum(octets(h, "mgmt0")) for h in lan.hosts]))
    (begin, first), (end, last) = seen[5], seen[-6]
    assert end - begin > 1
    return {
        host.destination: (last[place] - first[place]) / (end - begin)
        for place, host in enumerate(lan.hosts)
    }


@pytest.mark.figures
def test_the_control_connection_carries_only_progress(lan: SshLan) -> None:
    command = lan.start("stream", *lan.ends(), "--rate", "5M", "--time", "2.4")
    rates = control_rates(lan, command)
    code, _, err = finished(command)
    assert code == 0, err
    for host, rate in rates.items():
        assert 100 < rate < MOST_CONTROL_BYTES_PER_S, f"{host}: {rate:.0f} bytes/s"


@pytest.mark.figures
def test_offsets_are_right_and_starts_together(lan: SshLan) -> None:
    found = lan.measured(
        *("stream", *lan.ends(), "--messages", "50", "--message-rate", "1000"),
        *("--warmup", "0", "--trials", "10"),
    )
    trials = lan.trials(found["run"])
    readings = [trial["setup"]["clocks"][when] for trial in trials for when in ("before", "after")]
    right = [abs(one["difference_ns"]) <= one["error_ns"] for one in readings]
    assert len(right) == 20
    assert sum(right) >= 0.95 * len(right), readings
    skews_ns = [abs(one["start_skew_ns"]) for one in found["trials"]]
    assert len(skews_ns) == 10
    assert statistics.median(skews_ns) < 1_000_000, skews_ns


#: Of the study: three of its eleven sizes, and as many trials as make an interval.
OF_SCALE = "[scale.quick.experiment]\n"
FEWER = """\
throughput = { factors = { message_size_bytes = [128, 512, 1408] } }
round-trip = { factors = { message_size_bytes = [128, 512, 1408] } }
"""
#: On a cable of lanlab's own medium the intervals can be smaller than anything that matters.
NEGLIGIBLE = 0.01
#: By which processor wakes which, round trips take 98 or 138 us here, for seconds on end: through
#: ssh it would be a millisecond.
NEGLIGIBLE_FOR_ROUND_TRIPS = 0.5


@pytest.mark.figures
@pytest.mark.long
def test_a_study_by_ssh_agrees_with_the_virtual_testbed(tmp_path: Path) -> None:
    """The same cable, once between hosts that are reached, once between hosts that are made: the
    intervals of each mean meet, or the means are as good as equal, as far as the machine is."""
    study = tmp_path / "study"
    shutil.copytree(Path(lanlab.studies.__file__).parent / "manford2009", study)
    text = (study / "study.toml").read_text(encoding="utf-8")
    assert text.count(OF_SCALE) == 1
    (study / "study.toml").write_text(text.replace(OF_SCALE, OF_SCALE + FEWER), encoding="utf-8")
    folder = tmp_path / "lan"
    folder.mkdir()
    with ssh_lan(folder, link="100M") as lan:
        runs = [
            lan.measured("run", str(study), "--scale", "quick", "--testbed", testbed)["run"]
            for testbed in ("virtual", lan.testbed)
        ]
        found = lan.measured("compare", *runs)
    compared = found["comparisons"]
    assert len(compared) == 12
    assert found["not_compared"] == []
    apart = [
        (one["condition"], one["metric"], one["effect"])
        for one in compared
        if (
            one["base_mean_95_low"] > one["other_mean_95_high"]
            or one["other_mean_95_low"] > one["base_mean_95_high"]
        )
        and abs(one["effect"] - 1)
        > (NEGLIGIBLE_FOR_ROUND_TRIPS if one["metric"] == "rtt_mean_ns" else NEGLIGIBLE)
    ]
    assert apart == []
