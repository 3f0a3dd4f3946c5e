"""What a link can carry at most, from the record of a run or from its text."""

from dataclasses import replace
from typing import Any

import pytest
from planned_runs import PlannedRun, planned_run

from lanlab.analysis.links.limits import tcp_limit_bps
from lanlab.analysis.links.wires import Wire, wire_asked_for, wire_of
from lanlab.analysis.trials.summary import limit_of


@pytest.fixture(scope="module")
def found() -> PlannedRun:
    return planned_run("manford-kolahi", "tiny", 100_000_000)


@pytest.mark.parametrize(("version", "mbps"), [(4, 9.241), (6, 9.074)])
def test_acknowledgements_take_their_share_of_a_shared_wire(version: int, mbps: float) -> None:
    """Two segments of 1460 or 1440 bytes in 3076 octets, an acknowledgement in 84: 1155 and 1134
    kB/s."""
    found = tcp_limit_bps(10e6, version, timestamps=False, is_shared=True)
    assert found / 1e6 == pytest.approx(mbps, abs=0.0006)
    assert tcp_limit_bps(10e6, version, is_shared=True) < tcp_limit_bps(10e6, version)


@pytest.mark.parametrize(
    ("text", "wire"),
    [
        ("unshaped", None),
        ("10M", Wire(10_000_000)),
        ("10M:hub", Wire(10_000_000, is_shared=True, way_ns=2_500)),
        ("10M:bus,delay=1ms", Wire(10_000_000, is_shared=True, way_ns=1_025_600)),
        ("100M:switch", Wire(100_000_000, is_switched=True)),
        ("1G:switch", Wire(1_000_000_000, has_token_bucket=True)),
        ("100M+tbf", Wire(100_000_000, has_token_bucket=True)),
    ],
)
def test_limits_follow_from_the_text_of_a_link(text: str, wire: Wire | None) -> None:
    assert wire_asked_for(text) == wire


@pytest.mark.parametrize(
    ("facts", "wire"),
    [
        # As runs were recorded before there was a medium, and before there were facts of links.
        ({"shape": "tbf", "topology": "switch"}, Wire(10_000_000, has_token_bucket=True)),
        (None, Wire(10_000_000)),
        (
            {"shape": "medium", "topology": "hub", "delay_ns": 10, "propagation_ns": 2_500},
            Wire(10_000_000, is_shared=True, way_ns=2_510),
        ),
        ({"shape": "medium", "topology": "switch"}, Wire(10_000_000, is_switched=True)),
    ],
)
def test_a_run_record_describes_its_link(
    found: PlannedRun, facts: dict[str, Any] | None, wire: Wire
) -> None:
    testbed = {"link_rate_bps": 10_000_000} | ({} if facts is None else {"link_facts": facts})
    assert wire_of(replace(found.run, testbed=testbed)) == wire
    assert wire_of(replace(found.run, testbed={})) is None


def test_the_shortest_round_trip_follows_from_frames_and_path() -> None:
    """1462 octets of preamble and frame at 100 Mbit/s, each way; a switch sends them again; a
    message of two fragments waits there for the first alone."""
    assert Wire(100e6).idle_round_trip_ns(1408, 4) == pytest.approx(2 * 1462 * 80)
    assert Wire(10e6).idle_round_trip_ns(2, 4) == pytest.approx(2 * 72 * 800)
    assert Wire(100e6, way_ns=1_000).idle_round_trip_ns(1408, 4) == pytest.approx(235_920)
    switched = Wire(100e6, is_switched=True)
    assert switched.idle_round_trip_ns(1408, 4) == pytest.approx(4 * 1462 * 80)
    # 3000 bytes: fragments of 1538, 1538 and 106 octets, without the last gap.
    one_way = 2 * 1538 + 106 - 12
    assert switched.idle_round_trip_ns(3000, 4) == pytest.approx(2 * 80 * (one_way + 1526))


def test_only_tcp_is_slower_over_a_hub() -> None:
    cable, hub = Wire(10e6), Wire(10e6, is_shared=True)
    assert hub.goodput_limit_bps("tcp", 4, None) == tcp_limit_bps(10e6, 4, is_shared=True)
    assert cable.goodput_limit_bps("tcp", 4, None) == tcp_limit_bps(10e6, 4)
    assert hub.goodput_limit_bps("udp", 4, 500) == cable.goodput_limit_bps("udp", 4, 500)


#: As an interface of a real host is recorded.
ETHERNET: dict[str, Any] = {
    "speed_bps": 1_000_000_000,
    "full_duplex": True,
    "wireless": False,
    "driver": "igc",
    "mtu_bytes": 1500,
}


@pytest.mark.parametrize(
    ("changes", "rate_bps"),
    [
        ([{}, {}], 1e9),
        ([{}, {"speed_bps": 100_000_000}], 1e8),
        # Two hosts at a third.
        ([{}, {"speed_bps": 2_500_000_000}, {}], 2e9),
        ([{}, {"speed_bps": 2_500_000_000}, {"speed_bps": 10_000_000_000}], 2.5e9),
        ([{}, {"speed_bps": None}], None),
        ([{"full_duplex": False}, {}], None),
        ([{"full_duplex": None}, {}], None),
        ([{}, {"wireless": True}], None),
        ([{"driver": "veth"}, {}], None),
    ],
)
def test_the_slower_adapter_of_real_hosts_is_the_limit(
    found: PlannedRun, changes: list[dict[str, Any]], rate_bps: float | None
) -> None:
    interfaces = {f"pc{n}": ETHERNET | change for n, change in enumerate(changes)}
    reached = {f"host{n}": {} for n in range(len(changes))}
    facts = {"interfaces": interfaces, "reached": reached}
    link = wire_of(replace(found.run, testbed={"facts": facts}))
    assert (link and link.rate_bps) == rate_bps
    assert link is None or link.limit_name == "limit by the adapters' speed"
    # One of whose interface nothing is known.
    more = {**facts, "reached": {**reached, "host9": {}}}
    assert wire_of(replace(found.run, testbed={"facts": more})) is None
    # Hosts that lanlab made.
    assert wire_of(replace(found.run, testbed={"facts": {"interfaces": interfaces}})) is None


def test_larger_frames_carry_more(found: PlannedRun) -> None:
    """Of a jumbo frame of 9038 octets on the wire 8948 are of TCP."""
    interfaces = {name: ETHERNET | {"mtu_bytes": 9000} for name in ("pc1", "nas")}
    facts = {"interfaces": interfaces, "reached": {"host0": {}, "host1": {}}}
    link = wire_of(replace(found.run, testbed={"facts": facts}))
    assert link is not None
    assert link.goodput_limit_bps("tcp", 4, None) == pytest.approx(1e9 * 8948 / 9038)
    parameters = {"message_size_bytes": 6000, "ip_version": 4}
    assert limit_of("goodput_bps", {**parameters, "server": "embedded"}, link)
    # It is none of the hosts.
    assert limit_of("goodput_bps", {**parameters, "server": "smb://nas/share"}, link) is None


@pytest.mark.parametrize(("name", "stamped"), [("simulated", False), ("virtual", True)])
def test_segments_of_simulated_machines_carry_no_time_stamps(
    found: PlannedRun, name: str, stamped: bool
) -> None:
    """With them a share of the link came to 100.8 %."""
    testbed = {**found.run.testbed, "name": name, "link_rate_bps": 10_000_000}
    wire = wire_of(replace(found.run, testbed=testbed))
    assert wire is not None
    limit_bps = limit_of("goodput_bps", {"transport": "tcp", "ip_version": 4}, wire)
    assert limit_bps == tcp_limit_bps(10e6, 4, timestamps=stamped)
