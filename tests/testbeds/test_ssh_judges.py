"""Measurements between hosts reached by ssh, compared with independent ones."""

import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ssh_hosts import SshHost, SshLan, finished, ssh_lan

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
