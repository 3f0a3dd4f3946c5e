"""`--peer`: the testbed of a measurement with a peer, and options that have no effect with it."""

from __future__ import annotations

from dataclasses import replace

from lanlab.cli.options.parameters import Given
from lanlab.cli.options.shared import DEFAULT_TESTBED
from lanlab.cli.running.settings import RunSettings
from lanlab.errors import UsageError

_HERE = "loopback"


def with_peer(workload: str, given: Given, settings: RunSettings) -> RunSettings:
    """The settings of a measurement with a peer, which determines the testbed. The parts of its URL
    become parameters.
    """
    from lanlab.testbeds.registry import is_of_real_hosts, listed_hosts
    from lanlab.workloads.peers.peer import PEERS, STARTED, parse_peer

    if (workload, given["peer"]) == ("stream", STARTED):
        given["transport"] = given["transport"] or PEERS[workload][STARTED].transports[0]
        return settings
    others = {"--link": settings.link, "--machines": settings.machines, "--pcap": settings.pcap}
    for option, value in others.items():
        if value is not None:
            raise UsageError(
                f"{option} cannot be used with --peer: lanlab does not make the link to a program "
                "of yours",
                hint="omit it",
            )
    protocols = PEERS[workload]
    try:
        peers = [parse_peer(url, protocols) for url in str(given["peer"]).split(",")]
    except ValueError as error:
        raise UsageError(f"--{error}", hint=error.__notes__[0]) from None
    transports = {protocols[peer.protocol].transports[0] for peer in peers}
    if given["transport"] is None and len(transports) == 1:
        given["transport"] = transports.pop()
    versions = {peer.ip_version for peer in peers}
    if given["ip_version"] is None and versions == {6}:
        given["ip_version"] = "6"
    testbed = settings.testbed
    if not is_of_real_hosts(testbed):
        if testbed not in (DEFAULT_TESTBED, _HERE):
            raise UsageError(
                f"--testbed {testbed} cannot be used with --peer: the testbed provides both ends",
                hint="omit it, or measure from another host by --from alice@pc",
            )
        return replace(settings, testbed=_HERE)
    if (listed_hosts(testbed) or [None, ""])[1] is not None:
        raise UsageError(
            "--to cannot be used with --peer, which names the other end",
            hint="omit it; --from says which host measures",
        )
    return settings


def at_interface(
    given: Given, settings: RunSettings, interface: str | None, *, allow_default_route: bool
) -> RunSettings:
    """
    The settings of a measurement with the small stack, at an interface of this machine.

    Args:
        interface: The interface to the peer.
        allow_default_route: Whether the default route may use the interface.
    """
    from lanlab.workloads.peers.peer import STARTED

    if given["peer"] == STARTED and interface is None and not allow_default_route:
        return settings
    if given["stack"] != "small":
        if given["stack"] not in (None, "system"):
            raise UsageError(
                f"--stack: found `{given['stack']}`; allowed: `system`, or `small` alone",
                hint="measure each in a separate run, and compare the runs",
            )
        raise UsageError(
            "--interface and --allow-default-route need --stack small",
            hint="omit them, or add e.g. `--stack small --stack-address 192.168.7.77`",
        )
    if given["peer"] is None or settings.testbed != _HERE:
        raise UsageError(
            "--stack small measures from this machine, against a program that listens at the "
            "other end",
            hint="write e.g. `--peer tcp://192.168.7.9:5001`, without --from and --testbed",
        )
    testbed = small_interface(interface, allow_default_route=allow_default_route)
    return replace(settings, testbed=testbed)


def small_interface(interface: str | None, *, allow_default_route: bool) -> str:
    """The testbed of a measurement with the small stack, at an interface of this machine."""
    from lanlab.testbeds.raw_links import check_interface, forwards
    from lanlab.testbeds.registry import INTERFACE

    if interface is None:
        raise UsageError(
            "--stack small needs --interface, the Ethernet interface that leads to the other end",
            hint="add e.g. `--interface eth1`",
        )
    check_interface(interface, allow_default_route=allow_default_route)
    if forwards(interface):
        raise UsageError(
            f"--interface: `{interface}` forwards packets for other addresses, so this system "
            "would also answer frames for the small stack",
            hint=f"switch it off: `sysctl net.ipv4.conf.{interface}.forwarding=0`",
        )
    return f"{INTERFACE}{interface}"
