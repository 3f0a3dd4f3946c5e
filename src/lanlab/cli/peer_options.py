"""`--peer`: what a command that has it measures on, and what cannot be used with it."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.cli.options import DEFAULT_TESTBED
from lanlab.cli.parameter_options import Given
from lanlab.errors import UsageError

#: This machine, if no other host measures.
_HERE = "loopback"


def with_peer(workload: str, given: Given, testbed: str, others: Mapping[str, str | None]) -> str:
    """
    The testbed of a measurement with a peer; what its URL says is put into the parameters.

    Args:
        workload: Its name.
        given: The parameters as they were typed, with a peer.
        testbed: That was asked for.
        others: Options that cannot be used with a peer, and their values.

    Raises:
        UsageError: The URL is none, or something that was asked for has no effect.
    """
    from lanlab.testbeds.registry import is_of_real_hosts, listed_hosts
    from lanlab.workloads.peers import PEERS, parse_peer

    for option, value in others.items():
        if value is not None:
            raise UsageError(
                f"{option} cannot be used with --peer: lanlab does not make the link to a program "
                "of yours",
                hint="leave it out",
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
    if not is_of_real_hosts(testbed):
        if testbed not in (DEFAULT_TESTBED, _HERE):
            raise UsageError(
                f"--testbed {testbed} cannot be used with --peer: it has both ends",
                hint="leave it out, or measure from another host by --from alice@pc",
            )
        return _HERE
    if (listed_hosts(testbed) or [None, ""])[1] is not None:
        raise UsageError(
            "--to cannot be used with --peer, which names the other end",
            hint="leave it out; --from says which host measures",
        )
    return testbed
