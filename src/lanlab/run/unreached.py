"""
Why two real hosts cannot reach each other although lanlab reaches both: no route between the
measured addresses, or a firewall on one of them. Their engines answer, so neither host is down.
"""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.analysis.disturbances.path_cautions import path_cautions
from lanlab.errors import EngineError, LabError
from lanlab.testbeds.base import Testbed
from lanlab.testbeds.registry import real_hosts
from lanlab.trial_data import PathSeen, Request

_NO_ROUTE = "peer.unreachable"
_NO_ANSWER = "peer.no_answer"
_NO_ADDRESS = "bind.no_address"
#: Error codes that result when long packets are lost silently.
_SILENT_LOSS = (
    *("peer.gone", "stream.nothing_sent", "stream.nothing_arrived", "echo.nothing_arrived"),
)


def explained(
    error: LabError,
    bed: Testbed,
    requests: Mapping[str, Request],
    names: Mapping[str, str],
    paths: Mapping[str, PathSeen],
) -> LabError:
    """
    An error of a trial between real hosts, with advice on their network.

    Args:
        requests: The requests to the engines, by role.
        names: Name of the host in each role, the connecting one first.
        paths: The longest packets between them, as probed before the run.
    """
    kind = real_hosts(bed.name)
    if kind is None or not isinstance(error, EngineError):
        return error
    connects, listens = list(names)[:2]
    asked = requests.get(connects, {})
    hint = None
    if error.code in (_NO_ROUTE, _NO_ADDRESS):
        hint = kind.how_to_reach
    elif error.code == _NO_ANSWER and "peer" in asked:
        hint = f"{_of_firewall(asked, bed, names[listens])}. If it is none: {kind.how_to_reach}"
    elif error.code in _SILENT_LOSS:
        silent = {ends: path for ends, path in paths.items() if not path.get("was_told")}
        hint = "; ".join(path_cautions(silent)) or None
    if hint is None:
        return error
    return EngineError(error.code, error.message, hint=hint, host=error.host, partial=error.partial)


def _of_firewall(asked: Request, bed: Testbed, listens: str) -> str:
    host = next((one for one in bed.hosts if one.name == listens), None)
    label = host.label if host is not None else listens
    transport = asked.get("spec", {}).get("transport", "udp")
    ports = asked.get("ports") or [asked.get("port")]
    port = ports[0]
    return (
        f"{label} answers lanlab, so that a firewall on it may drop {transport.upper()} port "
        f"{port}: fix it by `--port {port}` and open it there: `ufw allow {port}/{transport}`, "
        f"`firewall-cmd --add-port={port}/{transport}`, or `nft insert rule inet filter input "
        f"{transport} dport {port} accept`"
    )
