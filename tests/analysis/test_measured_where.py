"""A server of the user's is said to be where it is, not on this machine's loopback."""

from dataclasses import replace
from typing import Any

import pytest
from planned_runs import a_run, planned_run

from lanlab.analysis.trials.measured_where import measured_where
from lanlab.figures.wording import link_text
from lanlab.performers.hosts import measured_interface
from lanlab.report.comparison.comparison_table import runs_table
from lanlab.report.runs.run_facts import environment_of
from lanlab.store import RunRecord
from lanlab.studies.load import load_study
from lanlab.testbeds.base import Host


def copied(name: str, link: str, *servers: str) -> RunRecord:
    run = a_run(load_study("schomer-claason").study, "tiny", None)
    experiment: dict[str, Any] = {"id": "single", "parameters": {}, "factors": {}}
    if len(servers) == 1:
        experiment["parameters"]["server"] = servers[0]
    elif servers:
        experiment["factors"]["server"] = list(servers)
    return replace(
        run, testbed={"name": name, "link": link}, study={**run.study, "experiment": [experiment]}
    )


@pytest.mark.parametrize("place", ["parameters", "factors"])
@pytest.mark.parametrize(
    ("peer", "where"),
    [
        ("tcp://printer:9100", ("this machine to printer", "network as it is")),
        ("iperf3://nas", ("this machine to nas", "network as it is")),
        ("tcp://127.0.0.1:5001", ("loopback", "unshaped")),
        ("tcp", ("loopback", "unshaped")),
    ],
)
def test_the_location_of_a_peer_comes_from_its_url(
    place: str, peer: str, where: tuple[str, str]
) -> None:
    run = copied("loopback", "unshaped")
    (experiment,) = run.study["experiment"]
    experiment[place]["peer"] = peer if place == "parameters" else [peer]

    assert measured_where(run) == where


@pytest.mark.parametrize(
    ("name", "servers", "said"),
    [
        ("loopback", ("sftp://me@10.77.0.2:2222/tmp",), ("this machine to 10.77.0.2",)),
        (
            "loopback",
            ("smb://me@nas/a", "ftp://nas/b", "nfs://old/c"),
            ("this machine to nas, old",),
        ),
        ("loopback", ("sftp://[fe80::2%25eth0]/tmp",), ("this machine to [fe80::2%eth0]",)),
        ("loopback", ("sftp://me@127.0.0.1/tmp",), ("loopback", "unshaped")),
        ("loopback", ("ftp://localhost:2121/tmp",), ("loopback", "unshaped")),
        ("loopback", ("sftp://[::1]/tmp",), ("loopback", "unshaped")),
        ("loopback", ("file:///srv/data",), ("loopback", "unshaped")),
        ("loopback", (), ("loopback", "unshaped")),
        ("virtual", (), ("virtual", "unshaped")),
        (
            "interface:eth1",
            ("smb1+nbf://CNCFILES/DATA",),
            ("this machine to CNCFILES", "interface eth1"),
        ),
        (
            "interface:eth1",
            ("ncp://me@/SYS/DATA",),
            ("this machine to the nearest server", "interface eth1"),
        ),
    ],
)
def test_a_run_says_where_it_was_measured(
    name: str, servers: tuple[str, ...], said: tuple[str, ...]
) -> None:
    expected = said if len(said) == 2 else (*said, "network as it is")

    assert measured_where(copied(name, "unshaped", *servers)) == expected


def test_captions_and_comparisons_name_the_network() -> None:
    run = copied("loopback", "unshaped", "sftp://me@10.77.0.2/tmp")

    said = [
        link_text(run),
        *(cell.text for row in runs_table(["a"], [(run, [])], 0).rows for cell in row),
    ]

    said += [text for _, text in environment_of(run)]
    assert sum("10.77.0.2" in text for text in said) == 3
    assert not any("loopback" in text for text in said)


def test_a_run_between_virtual_hosts_keeps_its_description() -> None:
    run = planned_run("manford-kolahi").run

    assert "testbed virtual, link any" in link_text(run)


def test_unused_interfaces_are_not_mentioned() -> None:
    facts = {"interfaces": {"lo": {"addresses": ["127.0.0.1"]}, "eth1": {"addresses": []}}}
    first = Host("host0", {"ipv4": "127.0.0.1"}, (), interface="eth1")
    second = Host("host1", {"ipv4": "127.0.0.1"}, ())

    assert measured_interface(first, (first, second), facts) == "eth1"
    assert measured_interface(second, (first, second), facts) is None
    plain = replace(first, interface=None)
    assert measured_interface(plain, (plain, second), facts) == "lo"
