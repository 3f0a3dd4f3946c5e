"""Serves clients of other programs, and prints their results."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from typing import cast

from lanlab.addresses import bare, is_of_one_link
from lanlab.cli.serving.names import served_address
from lanlab.cli.terminal.remarks import print_lines, say
from lanlab.figures.number_text import counted
from lanlab.frozen import dataclass
from lanlab.messages import Line, PeerClient, Result
from lanlab.performers.peer_serving import WantedPeers, serving_peers
from lanlab.units import format_rate, format_size, format_time


@dataclass(frozen=True)
class _Served:
    #: Default port; 0 for any free port.
    port: int
    title: str
    example: str
    transports: str


SERVED: Mapping[str, _Served] = {
    "iperf3": _Served(5201, "iperf3 clients", "iperf3 -c {address} -p {port}", "TCP and UDP"),
    # Ports below 1024 need root, so the RFCs' ports are used only if --port requests them.
    "discard": _Served(
        0, "by discarding what comes (RFC 863)", "nc -N {address} {port} < FILE", "TCP"
    ),
    "echo": _Served(0, "by sending back what comes (RFC 862)", "nc {address} {port}", "TCP"),
    "chargen": _Served(
        0, "by sending characters (RFC 864)", "nc -d {address} {port} > FILE", "TCP"
    ),
}
_SERVED_BYTES = 64 << 10


def serve_peers(wanted: WantedPeers, within_s: float | None, *, as_json: bool) -> None:
    """
    Serve until Ctrl-C or for a time, and print the results of each client when it ends.

    Raises:
        UsageError: The address is not one of this machine's.
    """
    address, served = wanted.address, SERVED[wanted.service]
    if not served_address(address).is_loopback:
        say(
            f"warning: every host that reaches {address} can fill this network; --rate-limit and "
            "--longest bound what one client may ask for"
        )

    lines = BoundedLines(as_json)

    def on_client(line: Line) -> None:
        kept = {key: value for key, value in line.items() if key not in ("type", "id")}
        for text in lines.of(cast("PeerClient", kept), time.monotonic()):
            print_lines(text)

    running = None
    try:
        with serving_peers(wanted, on_client) as running:
            if not as_json:
                rate_bps = wanted.rate_bps
                limit = "no rate limit" if rate_bps is None else f"{format_rate(rate_bps)} each way"
                # The zone is the name of the client's interface, which is unknown here.
                there = f"{bare(address)}%ETH" if is_of_one_link(address) else address
                example = served.example.format(address=there, port=running.port)
                ends = "end it with Ctrl-C" if within_s is None else f"ends after {within_s:g} s"
                print_lines(f"serving     {served.title}, {wanted.clients} at once")
                print_lines(f"address     {address} port {running.port} ({served.transports})")
                print_lines(f"try         {example}")
                print_lines(
                    f"limits      {format_time(wanted.longest_s)} and {limit} for each client"
                )
                print_lines(ends)
            running.wait(within_s)
    except KeyboardInterrupt:
        # Ctrl-C is the normal end, once it serves.
        if running is None:
            raise
    for text in lines.summary():
        print_lines(text)
    if running is not None and running.done is not None:
        print_lines(json.dumps(running.done) if as_json else done_text(running.done))


class BoundedLines:
    """Limits the lines for clients, because strangers can connect any number of times. Clients that
    were served have lines of their own, so strangers that do little hide no result.
    """

    #: Lines at once, and then per second.
    OF_SERVED, OF_OTHERS = (30, 4.0), (10, 0.2)
    SUMMARY_EACH_S = 5.0

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._left_out: Counter[str] = Counter()
        self._next_s = dict.fromkeys((self.OF_SERVED, self.OF_OTHERS), 0.0)
        self._summary_s = 0.0

    def of(self, client: PeerClient, now_s: float) -> list[str]:
        """The line for a client that ended, if it gets one, after a summary of those without."""
        is_served = _is_served(client)
        at_once, per_s = limit = self.OF_SERVED if is_served else self.OF_OTHERS
        next_s = max(self._next_s[limit], now_s - (at_once - 1) / per_s)
        is_shown = next_s <= now_s
        if is_shown:
            self._next_s[limit] = next_s + 1 / per_s
        else:
            self._summary_s = self._summary_s if self._left_out else now_s + self.SUMMARY_EACH_S
            moved_bytes = client["received_bytes"] + client["sent_bytes"]
            self._left_out.update(left_out=1, served=is_served, moved_bytes=moved_bytes)
        lines = self.summary() if now_s >= self._summary_s else []
        if is_shown:
            lines.append(json.dumps(client) if self._as_json else client_text(client))
        return lines

    def summary(self) -> list[str]:
        """A line for all clients without one since the last summary, if there are any."""
        found, self._left_out = self._left_out, Counter()
        if not found or self._as_json:
            return [json.dumps(found)] if found else []
        left_out, served = found["left_out"], found["served"]
        moved = format_size(found["moved_bytes"])
        return [f"… {left_out:,} more clients, {served:,} of them served; {moved}"]


def _is_served(client: PeerClient) -> bool:
    moved = client["received_bytes"] + client["sent_bytes"]
    error = client["error"]
    is_crowded_out = error is not None and error["code"] == "client.crowded_out"
    return client["said"] is not None or (moved >= _SERVED_BYTES and not is_crowded_out)


def client_text(client: PeerClient) -> str:
    """The results of a client: this end's counts, and the client's own counts if they differ."""
    head = f"client {client['number']:<4} {client['address']}"
    asked, error = client["asked"], client["error"]
    parts = []
    if asked is not None:
        flows = asked["flows"]
        parts.append(f"{asked['transport'].upper()}, {flows} flow{'s' if flows != 1 else ''}")
    if client["said"] is not None:
        parts += _directions(client)
    elif asked is None and (client["received_bytes"] or client["sent_bytes"]):
        parts += _plain_directions(client)
    if error is not None:
        parts.append(error["message"])
    if client["clients_at_once"] > 1 and client["moved_for_all_bytes"]:
        share = 100 * client["moved_bytes"] / client["moved_for_all_bytes"]
        parts.append(
            f"{share:.1f} % of what was moved; {client['clients_at_once']} clients at once"
        )
    return "; ".join([f"{head}  {parts[0]}", *parts[1:]]) if parts else head


def _directions(client: PeerClient) -> list[str]:
    asked, ours, theirs = client["asked"], client["said"], client["counted"]["report"]
    assert asked is not None and ours is not None
    received = asked["flows"] if asked["receives"] else 0
    parts = []
    for verb, their_verb, is_used, part in (
        ("received", "sent", asked["receives"], slice(None, received)),
        ("sent", "received", asked["sends"], slice(received, None)),
    ):
        if not is_used:
            continue
        here = ours["streams"][part]
        bytes_here = sum(flow["bytes"] for flow in here)
        seconds = max(flow["end_time"] for flow in here)
        text = f"{verb} {format_size(bytes_here)}"
        if seconds > 0:
            text += f", {format_rate(8 * bytes_here / seconds)}"
        if asked["transport"] == "udp" and verb == "received":
            lost = sum(flow["errors"] - flow["omitted_errors"] for flow in here)
            sent = sum(flow["packets"] - flow["omitted_packets"] for flow in here)
            text += f", {lost} of {sent} lost"
        if theirs is not None:
            bytes_there = sum(flow["bytes"] for flow in theirs["streams"][part])
            if bytes_there != bytes_here:
                text += f" (it {their_verb} {format_size(bytes_there)})"
        parts.append(text)
    return parts


def _plain_directions(client: PeerClient) -> list[str]:
    seconds = client["elapsed_ns"] / 1e9
    return [
        f"{words} {format_size(moved)}, {format_rate(8 * moved / seconds)}"
        for moved, words in (
            (client["received_bytes"], "received"),
            (client["sent_bytes"], "its TCP acknowledged"),
        )
        if moved
    ]


def done_text(done: Result) -> str:
    """The totals of the server, and how evenly concurrent clients shared it."""
    text = (
        f"served      {counted(done['clients'], 'client')} in {done['elapsed_ns'] / 1e9:.0f} s, "
        f"{format_size(done['moved_bytes'])}"
    )
    if done["refused"]:
        text += f"; {done['refused']} refused: too many at once"
    if done["silent"]:
        text += f"; {counted(done['silent'], 'connection')} that began no test"
    together = done["together"]
    if together is not None and any(together["bytes"]):
        from lanlab.workloads.stream.fairness import jain_index

        moved = together["bytes"]
        shares = sorted(100 * one / sum(moved) for one in moved)
        text += (
            f"\ntogether    {len(moved)} clients for {together['time_ns'] / 1e9:.1f} s: "
            f"{shares[0]:.1f} to {shares[-1]:.1f} % each, Jain's index {jain_index(moved):.3f}"
        )
    return text
