"""The traffic heard on a segment, as text."""

from __future__ import annotations

from collections.abc import Iterator

from lanlab.messages import Heard
from lanlab.report.document.document import Block, Document
from lanlab.report.document.table import Column, table_of_texts

_FRAMINGS = {
    "ethernet_ii": "Ethernet II",
    "raw_802_3": "raw 802.3",
    "llc": "802.2",
    "snap": "SNAP",
    "three_com": "3Com",
}
_SIGNS = {
    "used": "used it",
    "claimed": "claimed it",
    "announced": "announced it",
    "answered": "answered for it",
    "released": "released it",
}
#: A query this close to the end may have been answered after it, ns.
_FRESH_NS = 2_000_000_000
_MOST_SHOWN = 8


def heard_document(heard: Heard) -> Document:
    data = {key: value for key, value in heard.items() if key != "kind"}
    tables = [block for block in _tables(heard) if isinstance(block, str) or block.rows]
    notes = [*_unlike_framings(heard), *_netware(heard), *_behind_a_switch(heard)]
    return Document(_lines(heard), tables, more=notes, data=data)


def _lines(heard: Heard) -> list[str]:
    seconds = heard["elapsed_ns"] / 1e9
    lines = [
        f"interface   {heard['interface']} ({heard['mac']})",
        f"listened    {seconds:.1f} s: {heard['frames']:,} frames, {heard['bytes']:,} bytes",
    ]
    if heard["kernel_drops"]:
        lines.append(f"lost        {heard['kernel_drops']:,} frames came faster than they are read")
    if heard["unreadable_frames"]:
        lines.append(
            f"unreadable  {heard['unreadable_frames']:,} frames with neither a type nor a length"
        )
    if heard["recorded_frames"] or heard["unrecorded_frames"]:
        missing = heard["unrecorded_frames"]
        left_out = f"; {missing:,} are missing, the disk was too slow" if missing else ""
        lines.append(f"recorded    {heard['recorded_frames']:,} frames{left_out}")
    if not heard["frames"]:
        lines.append("nothing was heard: see whether the cable is plugged in")
    return lines


def _tables(heard: Heard) -> Iterator[Block]:
    protocols = [
        (
            one["protocol"],
            _FRAMINGS[one["framing"]],
            _frames(one["frames"]),
            f"{one['bytes']:,} bytes",
        )
        for one in heard["protocols"]
    ]
    stations = [
        (
            one["mac"],
            _frames(one["frames"]),
            ", ".join(one["protocols"]),
            ", ".join(one["addresses"]),
        )
        for one in heard["stations"]
    ]
    kinds = {True: "group", False: "unique", None: ""}
    names = [
        (
            f"{one['name']}<{one['suffix']:02X}>",
            kinds[one["is_group"]],
            one["mac"],
            one["protocol"],
            _SIGNS[one["sign"]],
        )
        for one in heard["names"]
    ]
    servers = [
        (one["name"], one["kind"], one["address"], one["protocol"]) for one in heard["servers"]
    ]
    questions = [
        (
            f"{one['question']} {one['asked']}",
            f"asked by {one['mac']}",
            f"{one['times']:,} times" if one["times"] > 1 else "once",
            "just before the end" if one["last_before_end_ns"] < _FRESH_NS else "",
        )
        for one in heard["unanswered"]
    ]
    for title, rows, others, what in (
        ("protocols", protocols, heard["other_protocol_frames"], "frames"),
        ("stations", stations, heard["other_station_frames"], "frames"),
        ("NetBIOS names", names, heard["other_names"], "sightings"),
        ("servers", servers, heard["other_servers"], "sightings"),
        ("questions without an answer", questions, heard["other_questions"], "questions"),
    ):
        columns = [Column("", short=" ", is_number=False)] * max(map(len, rows), default=0)
        yield table_of_texts(title, columns, rows)
        if others:
            yield f"and {others:,} {what} of others, which are not in this list"


def _behind_a_switch(heard: Heard) -> Iterator[str]:
    if heard["unanswered"] and not heard["frames_between_others"]:
        yield (
            "note: no frame between two other stations was heard, as behind a switch. Answers to "
            "other stations are not seen then, so these questions may have been answered."
        )


def _unlike_framings(heard: Heard) -> Iterator[str]:
    users: dict[str, list[str]] = {}
    for station in heard["stations"]:
        if len(station["ipx_framings"]) == 1:
            users.setdefault(station["ipx_framings"][0], []).append(_who(station["mac"], heard))
    if len(users) < 2:
        return
    yield "note: these stations use IPX in different framings, and do not hear each other:"
    for framing, who in sorted(users.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        more = f" and {len(who) - _MOST_SHOWN:,} more" if len(who) > _MOST_SHOWN else ""
        yield f"  {_FRAMINGS[framing]}: {', '.join(who[:_MOST_SHOWN])}{more}"


def _netware(heard: Heard) -> Iterator[str]:
    servers = [one["name"] for one in heard["servers"] if _is_netware(one["protocol"], one["kind"])]
    if servers:
        yield (
            f"note: files of a NetWare server are at ncp://USER@{servers[0]}/VOLUME, those of the "
            "nearest one at ncp://USER@/VOLUME."
        )
    if any(
        _is_netware(each["question"].partition(":")[0], each["asked"])
        for each in heard["unanswered"]
    ):
        yield (
            "note: stations look for a NetWare server, and none answers: `lanlab serve DIRECTORY "
            f"--service ncp --interface {heard['interface']}` is one."
        )


def _is_netware(protocol: str, kind: str) -> bool:
    return (protocol, kind) == ("SAP", "file server")


def _who(mac: str, heard: Heard) -> str:
    node = f":{mac.replace(':', '').upper()}:"
    names = [one["name"] for one in heard["servers"] if node in one["address"]]
    return f"{mac} ({names[0]})" if names else mac


def _frames(count: int) -> str:
    return f"{count:,} frames"
