"""
Makes the seeds of `fuzz/corpus` anew: `python fuzz/make_seeds.py`.

Each is a message written out by its description, or an order of them, named by what it is. Files
named `found-*` were found by a fuzzer to reach something that these do not; they are left alone.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import service_seeds as services
import smb1_seeds as smb1
import station_seeds as stations
from seed_parts import number

CORPUS = Path(__file__).parent / "corpus"
TOKEN = bytes([7]) * 16
SHORT = TOKEN[12:]
SESSION = "07" * 16


def session(kind: int, first: int = 0, second: int = 0) -> bytes:
    """A message of the session: questions are padded to 64 octets."""
    head = b"lanlab\x02" + bytes([kind]) + TOKEN + bytes(8)
    message = head + first.to_bytes(8, "big") + second.to_bytes(8, "big")
    return message.ljust(64, b"\0") if kind in (1, 3, 5, 8) else message


def probe(size: int, sequence: int, flow: int = 0) -> bytes:
    """A message of a stream."""
    if size < 12:
        width = 1 if size < 2 else 2 if size < 4 else 4
        return (sequence % 256**width).to_bytes(width, "big").ljust(size, b"\0")
    head = b"\x01\0" + flow.to_bytes(2, "big") + SHORT
    if size < 24:
        return (head + (sequence % 2**32).to_bytes(4, "big")).ljust(size, b"\0")
    return (head + sequence.to_bytes(8, "big") + (5).to_bytes(8, "big")).ljust(size, b"\0")


def probes() -> dict[str, bytes]:
    expected = (10).to_bytes(8, "big")
    seeds = {f"{size}-octets": expected + probe(size, 11) for size in (1, 2, 4, 12, 24, 64)}
    seeds["greatest-number"] = (2**64 - 1).to_bytes(8, "big") + probe(24, 2**64 - 1)
    seeds["wrapped"] = (65_535 << 2).to_bytes(8, "big") + probe(2, 3)
    seeds["another-kind"] = expected + b"\x02" + probe(24, 1)[1:]
    seeds["cut-short"] = expected + probe(24, 1)[:23]
    return seeds


def sessions() -> dict[str, bytes]:
    # The order is that of the kinds on the wire.
    answered = ["hello", "challenge", "prove", "accept", "mark", "marked"]
    names = [*answered, "alive", "finish", "finished"]
    seeds = {name: session(kind, 9, 1000) for kind, name in enumerate(names, 1)}
    seeds["unknown-kind"] = session(99)
    seeds["another-version"] = b"lanlab\x01" + session(1)[7:]
    seeds["long-answer"] = session(2) + bytes(16)
    seeds["short-question"] = session(1)[:48]
    seeds["empty"] = b""
    return seeds


def spec(**changes: object) -> dict[str, object]:
    return {
        "transport": "udp", "message_size_bytes": 500, "amount": {"time_ns": 1_000_000_000},
        "rate": {"messages_per_s": 1000.0}, "flows": 1, "io": "auto", "socket": {},
        "warmup_ns": 0, "interval_ns": 100_000_000, "silence_ns": 1_000_000_000, **changes,
    }  # fmt: skip


def lines() -> dict[str, bytes]:
    ends = {"peer": "127.0.0.1", "session": SESSION}
    echo = {
        "transport": "udp", "message_size_bytes": 100, "amount": {"requests": 20},
        "rate_requests_per_s": 100.0, "timeout_ns": 500_000_000, "socket": {}, "warmup_ns": 0,
        "silence_ns": 1_000_000_000,
    }  # fmt: skip
    requests: dict[str, dict[str, object]] = {
        "describe": {"type": "describe"},
        "ping": {"type": "ping"},
        "arm": {"type": "arm", "target": 1, "at_ns": 2**64 - 1},
        "cancel": {"type": "cancel", "target": 0},
        "receive": {"type": "stream_receive", "bind": "127.0.0.1", "spec": spec(), **ends},
        "send": {"type": "stream_send", "ports": [9], "spec": spec(), **ends},
        "respond": {"type": "echo_respond", "bind": "127.0.0.1", "spec": echo, **ends},
        "request": {"type": "echo_request", "port": 9, "spec": echo, **ends},
    }
    for name, changes in {
        "slowest": {"rate": {"bps": 1}, "message_size_bytes": 2**24, "transport": "tcp"},
        "fastest": {"rate": {"bps": 400_000_000_000}, "message_size_bytes": 1},
        "most-octets": {"amount": {"bytes": 2**50}, "rate": None},
        "most-messages": {"amount": {"messages": 2**40}, "message_size_bytes": 1024},
        "most-memory": {"threads": 64, "flows": 64, "read_bytes": 2**24, "transport": "tcp"},
        "segments": {"io": "segment", "threads": 64, "flows": 1000},
        "options": {
            "transport": "tcp",
            "socket": {
                "nodelay": True, "congestion_controls": ["cubic", "reno"], "dscp": 63,
                "send_buffer_bytes": 1024, "receive_buffer_bytes": 2**30,
            },
        },
    }.items():  # fmt: skip
        requests[name] = {
            "type": "stream_receive", "bind": "::1", "spec": spec(**changes),
            "peer": "::2", "session": SESSION, "processor": 0,
            "load": {"quota_ratio": 0.5, "work_ns": 1, "rivals": 16},
            "sender_clock": {"offset_ns": -(2**63), "error_ns": 0},
        }  # fmt: skip
    seeds = {
        name: json.dumps({"id": index, "request": request}).encode() + b"\n"
        for index, (name, request) in enumerate(requests.items())
    }
    seeds |= simulations()
    seeds["two-lines"] = seeds["ping"] + seeds["describe"]
    seeds["deep"] = b'{"id":1,"request":' + 200 * b"[" + b"\n"
    seeds["no-json"] = b"start please\n\r\n\xff\n"
    seeds["huge-number"] = b'{"id":1e999,"request":{"type":"ping"}}\n'
    seeds["no-end"] = b'{"id": 1'
    return seeds


def simulations() -> dict[str, bytes]:
    """Worlds of two machines, at the ends of what is allowed."""
    cost = {"each_ns": 10_000_000_000, "per_byte_ps": 1_000_000_000}
    slowest = {
        **dict.fromkeys(("interrupt", "protocol", "receive_call", "send_call", "transmit"), cost),
        "ring_frames": 65_536,
        "adapter_rate_ratio": 0.000001,
        "jitter_ratio": 1,
        "tcp": {"mss_bytes": 64, "window_bytes": 1_048_576, "delayed_ack_ns": 0, "nagle": False},
    }
    stream = {
        "workload": "stream",
        "transport": "udp",
        "ip_version": 4,
        "message_size_bytes": 1472,
        "amount": {"messages": 1},
        "rate": {"bps": 1},
        "warmup_ns": 0,
        "interval_ns": 1_000_000,
    }
    echo = {
        "workload": "echo",
        "transport": "tcp",
        "ip_version": 6,
        "message_size_bytes": 1,
        "reply_size_bytes": 16_777_216,
        "amount": {"requests": 1},
        "timeout_ns": 1_000_000,
        "warmup_ns": 0,
    }
    seeds = {}
    for index, (work, machine, topology) in enumerate(
        [(stream, {}, "cable"), (echo, slowest, "bus"), (stream, slowest, "switch")], 100
    ):
        medium = {"topology": topology, "rate_bps": 10_000_000, "loss_ratio": 0.5}
        world = {"medium": medium, "machines": 2 * [machine], "bounds": {"events": 1}}
        request = {"type": "simulate", "seed": 2**64 - 1, "world": world, "work": work}
        line = json.dumps({"id": index, "request": request}).encode() + b"\n"
        seeds[f"simulate-{topology}"] = line
    return seeds


def packet(transport: int, body: bytes, pause: int = 0) -> bytes:
    """A packet for `ip_frames`: a pause in 10 ms, UDP (2), TCP (1) or as it is (0), its octets."""
    return bytes([pause, transport, len(body)]) + body


def segment(flags: int, sequence: int, acknowledged: int = 0, data: bytes = b"") -> bytes:
    """A TCP segment from port 4000 to the listening one."""
    ports = (4000).to_bytes(2, "big") + (5201).to_bytes(2, "big")
    numbers = sequence.to_bytes(4, "big") + acknowledged.to_bytes(4, "big")
    return ports + numbers + bytes([0x50, flags]) + (8192).to_bytes(2, "big") + bytes(4) + data


def ip_packets() -> dict[str, bytes]:
    """Datagrams and connections, whole and broken."""
    ports = (4000).to_bytes(2, "big") + (5201).to_bytes(2, "big")
    syn, reset, fin_ack = (
        packet(1, segment(2, 1)),
        packet(1, segment(4, 2)),
        packet(1, segment(17, 2)),
    )
    options = segment(2, 1)[:12] + b"\x80" + segment(2, 1)[13:] + b"\2\4\5\xb4\3\3\7\4\2\1\1\1"
    datagram = ports + (13).to_bytes(2, "big") + bytes(2) + b"hello"
    return {
        "datagram": packet(2, datagram),
        "datagram-too-short": packet(2, ports + (99).to_bytes(2, "big") + bytes(2)),
        "syn": syn,
        "syn-twice": syn + packet(1, segment(2, 1), 120),
        "syn-options": packet(1, options),
        "syn-reset": syn + reset,
        "syn-fin": syn + fin_ack,
        "acknowledgement-of-nothing": syn + packet(1, segment(16, 2, 2**31)),
        "data-before-the-answer": syn + packet(1, segment(24, 2, 1, b"data")),
        "time-passes": syn + packet(1, segment(16, 2, 1), 255) + packet(1, b"", 255),
        "ipv6": packet(0, b"\x60" + bytes(5) + b"\x11\x40" + bytes(32)),
        "fragment": packet(0, b"\x45\0\0\x1c\0\1\x20\0\x40\x11" + bytes(18)),
    }


def step(kind: int, cookie: int | None, second: int, port: int = 0) -> bytes:
    """One message to both machines: time, port, token, flow, kind and its two numbers."""
    first = b"\0" if cookie is None else b"\xff" + number(cookie)
    return bytes([1, port, 0, 0, kind]) + first + number(second)


def machines() -> dict[str, bytes]:
    hello, prove = step(0, 5, 0), step(2, None, 5)
    nonce = number(5)
    return {
        "session": nonce + hello + prove + step(3, 5, 0),
        "proof-without-cookie": nonce + step(2, 77, 5) + hello + prove,
        "cookie-of-another": nonce + hello + step(2, None, 5, port=1) + prove,
        "flood": nonce + 200 * hello,
        "replayed": nonce + 3 * (hello + prove),
        "late": nonce + hello + b"\xff\xff" + bytes(8) + prove,
        "answers-first": nonce + step(1, 9, 0) + step(3, 4, 0) + step(3, 5, 0),
        "words-before-proof": nonce + b"".join(step(kind, 200, 5) for kind in range(9)),
    }


def tallies() -> dict[str, bytes]:
    """Head of a plan, then datagrams."""

    def head(size: int, amount: int = 2, warmup: int = 1) -> bytes:
        octets = bytes([size, amount])
        octets += b"\x63" if amount % 4 == 0 else number(1000)
        return octets + bytes([warmup]) + number(0) + number(0) + b"\xff"

    def next_one(step: int = 1) -> bytes:
        return bytes([step, 0, 0, 0]) + number(7)

    def word(which: int, first: int, second: int = 0) -> bytes:
        return bytes([1, 0, 160]) + number(first) + number(second) + bytes([which, 0])

    def leap(ahead: int) -> bytes:
        return bytes([1, 0, 80]) + number(ahead) + b"\0" + number(7)

    def raw(octets: bytes) -> bytes:
        return bytes([1, 0, 250, len(octets)]) + octets

    seeds = {f"in-order-{size}": head(size) + 30 * next_one() for size in range(11)}
    seeds["marked"] = head(9) + 5 * next_one() + word(0, 5) + 9 * next_one() + word(1, 5, 14)
    seeds["counted"] = head(9, amount=0) + word(0, 0) + 120 * next_one()
    seeds["mark-of-the-greatest"] = head(9) + word(0, 2**64 - 1) + 5 * next_one()
    seeds["finish-first"] = head(9) + word(1, 2**64 - 1, 2**64 - 1) + 5 * next_one()
    seeds["greatest-number"] = head(10) + leap(2**64 - 1) + leap(2**62 - 2) + 5 * next_one()
    seeds["leaps"] = head(10) + next_one() + leap(70_000) + next_one() + leap(199)
    seeds["duplicates"] = head(10) + 9 * (next_one() + bytes([8, 0, 120, 1, 0]) + number(7))
    seeds["garbage"] = head(10) + raw(b"") + raw(b"x") + raw(bytes(200)) + raw(session(1)[:63])
    seeds["words"] = head(10) + b"".join(word(which, 3, 9) for which in range(5))
    return seeds


def texts() -> dict[str, bytes]:
    return {
        "stat": b"cpu  100 20 300 4000 50 6 70 8 9 9\ncpu0 1 1 1 1 1 1 1 1 0 0\ncpu3 1\n",
        "stat-too-large": b"cpu  18446744073709551615 1 1 1\n",
        "softnet": b"0000000e 00000001 00000002 0\nffffffff ffffffff ffffffff 0\n",
        "loadavg": b"0.20 0.18 0.12 2/80 11206",
        "pressure": b"some avg10=1.53 avg60=1.20 avg300=0.30 total=8263\n",
        "meminfo": b"MemTotal:        8148492 kB\nMemTotal: 18446744073709551615 kB\n",
        "cpuinfo": b"processor\t: 0\nmodel name\t: AMD EPYC\n",
        "devices": b"Inter-| Receive\n face |bytes\n    lo: 2776770\n eth0.5:12\n:\n",
        "snmp": b"Udp: InDatagrams NoPorts\nUdp: 12 -1\n\0Udp6InDatagrams 7\nUdp6\n",
    }


def iperf3_dialogues() -> dict[str, bytes]:
    """Recorded ones, each end's part, whole and octet by octet; the cookie is read elsewhere."""
    folder = CORPUS.parents[1] / "crates" / "workloads" / "src" / "iperf3" / "captured"
    seeds = {}
    for path in sorted(folder.iterdir()):
        is_server = path.suffix == ".server"
        said = path.read_bytes()[0 if is_server else 37 :]
        seeds[path.name] = bytes([254 + is_server]) + said
        seeds[f"{path.name}-by-octets"] = bytes([is_server]) + said

    def text(octets: bytes) -> bytes:
        return struct.pack(">I", len(octets)) + octets

    for name, said in {
        "many-flows": text(b'{"tcp":true,"parallel":1000000}'),
        "all-wishes": text(
            b'{"udp":true,"omit":1,"time":9,"parallel":4,"bidirectional":true,"window":65536,'
            b'"len":512,"bandwidth":1000000,"TOS":32,"udp_counters_64bit":1}'
        ),
        "endless": b"\xff\xff\xff\xff[[[[",
        "nested": text(b"[" * 300),
        "terminated": text(b'{"tcp":true,"bandwidth":1}') + b"\x0c",
    }.items():
        seeds[name] = b"\xfe" + said
    seeds["failed"] = b"\xff\xfe" + struct.pack(">ii", 6, 0)
    seeds["busy"] = b"\xff\xff"
    seeds["many-results"] = b"\xff\x09\x0a\x01\x02\x0d" + text(
        b'{"streams":[' + b",".join([b"{}"] * 513) + b"]}"
    )
    return seeds


def main() -> None:
    for target, seeds in {
        "probe": probes(),
        "session": sessions(),
        "engine_line": lines(),
        "session_machines": machines(),
        "tally": tallies(),
        "host_texts": texts(),
        "ip_frames": ip_packets(),
        "iperf3_dialogue": iperf3_dialogues(),
        "ipx_station": stations.ipx_stations(),
        "ncp_station": stations.ncp_stations(),
        "ftp_answers": services.ftp_answers(),
        "http_answers": services.http_answers(),
        "heard_frames": stations.heard_frames(),
        "nbf_frames": stations.nbf_frames(),
        "nbf_station": stations.nbf_stations(),
        "nfs_answers": services.nfs_answers(),
        "nfs_calls": services.nfs_calls(),
        "s3_requests": services.s3_requests(),
        "sftp_messages": services.sftp_messages(),
        "smb1_client": smb1.smb1_sessions(),
        "smb1_messages": smb1.smb1(),
        "smb1_server": smb1.smb1_requests(),
    }.items():
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if not old.name.startswith("found-"):
                old.unlink()
        for name, octets in seeds.items():
            (folder / name).write_bytes(octets)


if __name__ == "__main__":
    main()
