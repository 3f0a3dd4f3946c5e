"""The subject of a measurement in one line: protocol, direction, size, flows, time, and hosts.

It makes the titles of single measurements and scans, so that tables, lists, figures and pages are
self-explanatory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from lanlab.figures.wording import name_of
from lanlab.roles import BOTH, REVERSE
from lanlab.services import EMBEDDED, SERVICES
from lanlab.store.records import Level
from lanlab.units import format_rate, format_time
from lanlab.workloads.copy.datasets import dataset_text
from lanlab.workloads.peers.peer import STARTED

#: Looks up a parameter; `None` if it is not set, or differs between conditions.
_Of = Callable[[str], Any]
#: Names that keys do not give.
_VARIED = {
    "rate_requests_per_s": "rate",
    "rate_operations_per_s": "rate",
    "ip_version": "IP version",
    "driver": "tool",
    "traffic_direction": "direction",
    "parallel_files": "files at once",
    "stations": "number of stations",
    "client_count": "number of clients",
    "load": "direction of the streams",
    "dataset": "files",
}


def subject(
    workload: str,
    parameters: Mapping[str, Level | None],
    varied: Collection[str] = (),
    searched: str | None = None,
) -> str:
    """
    The subject of a measurement under one condition, or under several.

    Args:
        varied: Names of the parameters that differ between conditions.
        searched: Name of the parameter that a search varies.

    Examples:
        >>> udp = {"transport": "udp", "message_size_bytes": 1408, "flows": 1, "time_s": 3.0}
        >>> subject("stream", udp)
        'UDP stream, 1408-byte messages as fast as possible, 1 flow, 3 s'
        >>> subject("stream", {**udp, "rate_bps": 5e6}, ["message_size_bytes"])
        'UDP stream at 5.00 Mbit/s, 1 flow, 3 s, by message size'
        >>> subject("copy", {"server": "ftp://nas/", "service": "ftp"}, ["server"])
        'upload of files, by server'
    """
    unsaid = {*varied, *([searched] if searched else [])}
    if "server" in varied and "://" in str(parameters.get("server")):
        # Each URL has its own service.
        unsaid.add("service")

    def of(key: str) -> Any:
        return None if key in unsaid else parameters.get(key)

    parts = [part for part in _PARTS[workload](of, unsaid) if part]
    if varied:
        parts.append(f"by {' and '.join(_VARIED.get(key, name_of(key)) for key in varied)}")
    return ", ".join(parts)


def places(testbed: str, link: str | None, parameters: Mapping[str, Level | None]) -> str:
    """
    The hosts of a measurement, or its link; empty if the server's URL names the host.

    Args:
        testbed: Its name, in the syntax of `lanlab.testbeds.testbed`.
        link: In that module's syntax.

    Examples:
        >>> places("virtual", "10M", {})
        'over a virtual link (10M)'
        >>> places("ssh:here,alice@nas", None, {"traffic_direction": "reverse"})
        'from alice@nas to here'
    """
    from lanlab.testbeds.registry import is_of_real_hosts, listed_hosts

    has_url = "://" in str(parameters.get("server") or parameters.get("peer") or "")
    if not is_of_real_hosts(testbed):
        if has_url:
            return ""
        known = {"loopback": "over loopback", "simulated": f"simulated, over {link}"}
        return known.get(testbed, f"over a virtual link ({link or 'unshaped'})")
    # Opening a testbed without hosts reports the error.
    listed = listed_hosts(testbed) if ":" in testbed else None
    if listed is None:
        return f"on {testbed}"
    first, second, *more = (one or "here" for one in listed)
    clients = " and ".join([first, *more])
    if has_url:
        return f"from {clients}"
    way = parameters.get("traffic_direction") or parameters.get("direction")
    if way in ("reverse", "download"):
        return f"from {second} to {clients}"
    return f"between {clients} and {second}" if way == BOTH else f"from {clients} to {second}"


def _protocol(of: _Of, what: str) -> str:
    transport = of("transport")
    named = f"{str(transport).upper()} {what}" if transport else what
    return f"{named} over IPv6" if of("ip_version") == 6 else named


def _size(size_bytes: int) -> str:
    for factor, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if size_bytes >= factor and size_bytes % factor == 0:
            return f"{size_bytes // factor} {unit}"
    return f"{size_bytes}-byte"


def _counted(count: Level | None, what: str) -> str:
    return "" if count is None else f"{count} {what}{'' if count == 1 else 's'}"


def _time(of: _Of) -> str:
    time_s = of("time_s")
    if time_s is None:
        return ""
    return f"{time_s:g} s" if time_s >= 1 else format_time(time_s)


def _messages(of: _Of, varied: set[str]) -> tuple[str, str]:
    size, transport = of("message_size_bytes"), of("transport")
    what = "writes" if transport == "tcp" else "messages"
    sent = "" if size is None else f"{_size(size)} {what}"
    if of("rate_bps") is not None:
        return sent, f"at {format_rate(of('rate_bps'))}"
    if of("rate_messages_per_s") is not None:
        return sent, f"at {of('rate_messages_per_s'):,g} messages/s"
    is_varied = varied & {"rate_bps", "rate_messages_per_s"}
    return sent, "" if is_varied else "as fast as possible"


def _stream(of: _Of, varied: set[str]) -> list[str]:
    sent, pace = _messages(of, varied)
    named = _protocol(of, "stream")
    if of("peer") is not None:
        peer = "a plain program" if of("peer") == STARTED else of("peer")
        named += f" {'from' if of('traffic_direction') == REVERSE else 'to'} {peer}"
    # The rate follows the messages, or the stream if the message size varies.
    begin = [named, f"{sent} {pace}".strip()] if sent else [f"{named} {pace}".strip()]
    amount = _time(of)
    if of("messages") is not None:
        amount = f"{of('messages'):,} in all"
    elif of("bytes") is not None:
        amount = f"{of('bytes'):,} bytes in all"
    way = "both ways at once" if of("traffic_direction") == BOTH else ""
    return [*begin, _counted(of("flows"), "flow"), way, amount]


def _echo(of: _Of, varied: set[str]) -> list[str]:
    size = of("message_size_bytes")
    if of("rate_requests_per_s") is not None:
        pace = f"{of('rate_requests_per_s'):,g} requests/s"
    elif varied & {"rate_requests_per_s", "outstanding_requests"}:
        pace = ""
    else:
        pace = f"{of('outstanding_requests') or 1} at a time"
    amount = _time(of) or ("" if of("requests") is None else f"{of('requests'):,} in all")
    sent = "" if size is None else f"{_size(size)} requests"
    peer = of("peer")
    named = _protocol(of, "echo")
    if peer is not None and str(peer).startswith("tcp:"):
        named, sent = f"opening of TCP connections to {peer}", ""
    elif peer is not None:
        named = f"{'ICMP echo' if str(peer).startswith('icmp:') else named} to {peer}"
    return [named, sent, pace, amount]


def _load(of: _Of, varied: set[str]) -> list[str]:
    streams = f"{str(of('transport') or '').upper()} streams".strip()
    wanted = of("load")
    what = {
        None: f"round trips alone and with {streams}",
        "none": "round trips alone",
        "both": f"round trips with {streams} up and down",
    }.get(wanted, f"round trips with {streams} {wanted}")
    sent, pace = _messages(of, varied)
    each = _counted(of("flows"), "flow")
    echo = of("echo_size_bytes")
    asked = "" if echo is None else f"{_size(echo)} requests"
    return [
        f"{what} over IPv6" if of("ip_version") == 6 else what,
        f"{each} in each direction" if each else "",
        f"{sent} {pace}".strip(),
        asked,
        _time(of),
    ]


def _server(of: _Of) -> str:
    server = str(of("server") or "")
    if "://" in server:
        return server
    known = SERVICES.get(str(of("service")))
    if known is not None and known.is_local:
        return "a local directory"
    return {"": "", EMBEDDED: "lanlab's server"}.get(server, f"server {server}")


def _named(of: _Of, what: str) -> str:
    """An activity after its service, if that has a name."""
    known = SERVICES.get(str(of("service")))
    return what if known is None or known.is_local else f"{known.title} {what}"


def _copy(of: _Of, varied: set[str]) -> list[str]:
    is_download = of("direction") == "download"
    files = dataset_text(str(of("dataset") or "files").removeprefix("dir:"))
    what = f"{'download' if is_download else 'upload'} of {files}"
    server = _server(of)
    if server:
        server = f"{'from' if is_download else 'to'} {server}"
    at_once = of("parallel_files")
    several = "" if at_once in (None, 1) else f"{at_once} files at once"
    return [f"{_named(of, what)} {server}".strip(), several]


def _stations(of: _Of, varied: set[str]) -> list[str]:
    size = of("message_size_bytes")
    done = {"read": "reads", "write": "writes", "mix": "reads and writes"}
    operations = done.get(str(of("operation")), "operations")
    named, server = _named(of, operations), _server(of)
    rate = of("rate_operations_per_s")
    return [
        f"{named} of {_size(size)} blocks" if size is not None else named,
        f"at {server}" if server else "",
        _counted(of("stations"), "station"),
        f"{rate:,g} operations/s" if rate is not None else "",
        _time(of),
    ]


def _metadata(of: _Of, varied: set[str]) -> list[str]:
    files, server, named = of("files"), _server(of), _named(of, "metadata")
    return [
        f"{named} of {files:,} files" if files is not None else named,
        f"at {server}" if server else "",
        _counted(of("client_count"), "client"),
    ]


_PARTS: Mapping[str, Callable[[_Of, set[str]], list[str]]] = {
    "stream": _stream,
    "echo": _echo,
    "load": _load,
    "copy": _copy,
    "stations": _stations,
    "metadata": _metadata,
}
