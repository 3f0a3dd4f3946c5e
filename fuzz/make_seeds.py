"""
Makes the seeds of `fuzz/corpus` anew: `python fuzz/make_seeds.py`.

Each is a message written out by its description, or an order of them, named by what it is. Files
named `found-*` were found by a fuzzer to reach something that these do not; they are left alone.
"""

from __future__ import annotations

import hmac
import json
import struct
from pathlib import Path

import service_seeds as services

CORPUS = Path(__file__).parent / "corpus"
TOKEN = bytes([7]) * 16
SHORT = TOKEN[12:]
SESSION = "07" * 16


def number(value: int) -> bytes:
    """As `Feed::number` reads it."""
    if value < 200:
        return bytes([value])
    if value > 2**64 - 21:
        return bytes([200 + 2**64 - 1 - value])
    return b"\xff" + value.to_bytes(8, "big")


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


def smb1() -> dict[str, bytes]:
    """The first message of each command and side, and the other things that are parsed."""
    frames = CORPUS.parents[1] / "crates" / "wire" / "tests" / "frames"
    seeds = {"listing": b"\4\2\2" + bytes(96), "name": b"\5F?o*.txtfoobar.txt"}
    for line in (frames / "smb1.txt").read_text().splitlines():
        if line[:1] not in "<>":
            continue
        packet = bytes.fromhex(line[2:])
        if packet[4:8] == b"\xffSMB":
            side = "request" if line[0] == ">" else "response"
            seeds.setdefault(f"{packet[8]:02x}-{side}", bytes([line[0] == ">"]) + packet[4:])
        else:
            seeds.setdefault(f"packet-{packet[0]:02x}", b"\3" + packet)
    for line in (frames / "nbns.hex").read_text().splitlines():
        if not line.startswith("#"):
            name, octets = line.split()
            seeds[f"nbns-{name}"] = b"\2" + bytes.fromhex(octets)
    return seeds


def smb1_sessions() -> dict[str, bytes]:
    """Answers of Samba, one after another, as a client of each dialect would get them."""
    frames = CORPUS.parents[1] / "crates" / "wire" / "tests" / "frames" / "smb1.txt"
    answers: dict[int, list[bytes]] = {}
    for line in frames.read_text().splitlines():
        packet = bytes.fromhex(line[2:]) if line.startswith("<") else b""
        if packet[4:8] == b"\xffSMB":
            status, body = packet[9:13], packet[36:]
            answer = b"\0\xff" + status + len(body).to_bytes(2, "little") + body
            answers.setdefault(packet[8], []).append(answer)

    nothing = b"\0\xff" + bytes(4) + b"\3\0" + bytes(3)

    def session(dialect: int, words: int, *commands: int) -> bytes:
        # The first answer must be of the dialect: its number of words tells it, its index is zero.
        first = next(one for one in answers[0x72] if one[8] == words)
        octets = bytes([dialect]) + first[:9] + b"\0\0" + first[11:]
        return octets + b"".join(answers.get(command, [nothing])[0] for command in commands)

    def alone(dialect: int, command: int, which: int) -> bytes:
        return session(dialect, 17, 0x73, 0x75) + 4 * answers[command][which]

    seeds = {
        "nt": session(0, 17, 0x73, 0x75, 0xA2, 0xA2, 0x2E, 0x2F, 0x32, 0x05, 0x00, 0x07, 0x80),
        "guest": session(0x80, 17, 0x73, 0x75, 0x2E, 0x2B, 0x04, 0x74),
        "lan-manager-1": session(2, 13, 0x73, 0x75, 0x2D, 0x2D, 0x2E, 0x2F, 0x81),
        "lan-manager-2": session(3, 13, 0x73, 0x75, 0x2D, 0x2D, 0x2E, 0x2F, 0x32),
        "core": b"\1\0\xff"
        + bytes(4)
        + b"\5\0\1\0\0\0\0"
        + b"\0\xff"
        + bytes(4)
        + b"\7\0\2\0\x10\7\0\0\0",
        "no-dialect": b"\1\0\xff" + bytes(4) + b"\5\0\1\xff\xff\0\0",
        "silence": b"\0",
    }
    for which in range(min(8, len(answers[0x32]))):
        seeds[f"transaction-{which}"] = alone(0, 0x32, which)
    return seeds


def smb1_requests() -> dict[str, bytes]:
    """Requests of clients of all kinds: alone, and all of a dialect one after another."""
    frames = CORPUS.parents[1] / "crates" / "wire" / "tests" / "frames" / "smb1.txt"
    requests: dict[int, list[bytes]] = {}
    for line in frames.read_text().splitlines():
        packet = bytes.fromhex(line[2:]) if line.startswith(">") else b""
        if packet[4:8] == b"\xffSMB":
            flags2, body = packet[14:16], packet[36:]
            # With the file that was opened last; the user and the share of the session.
            request = packet[8:9] + b"\1" + flags2 + len(body).to_bytes(2, "little") + body
            requests.setdefault(packet[8], []).append(request)
    opens = {1: b"\x2d", 3: b"\xa2"}
    seeds = {}
    for dialect, command in opens.items():
        opened = requests[command[0]][0]
        for number, known in requests.items():
            octets = bytes([dialect]) + opened + known[0] + known[-1]
            seeds[f"{dialect}-{number:02x}"] = octets
    made = requests[0x03][0] if 0x03 in requests else requests[0x2D][0]
    core = b"".join(requests[number][0] for number in sorted(requests) if number < 0x20)
    seeds["core"] = b"\0" + made + core
    seeds["stranger"] = b"\x83" + requests[0x72][0] + requests[0x73][0] + requests[0x75][0]
    # Logins by tokens, of the first user that a server numbers.
    tokens = [one for one in requests[0x73] if b"NTLMSSP" in one]
    logins = b"".join(one[:1] + b"\2" + one[2:] for one in tokens[:2])
    seeds["token"] = b"\x93" + requests[0x72][0] + logins
    seeds["token-signed"] = b"\x9b" + requests[0x72][0] + logins
    # The same with a proof of the password, for the challenge of the target's server.
    proved = smb1_proof()
    seeds |= {"token-proved": b"\x93" + proved, "token-proved-signed": b"\x9b" + proved}
    return seeds | smb1_waits()


def smb1_proof() -> bytes:
    """A login by NTLMSSP without SPNEGO, of user `u` with the password `Secret-1`."""

    def ask(command: int, choice: int, body: bytes) -> bytes:
        # With extended security and codes of Windows NT.
        return bytes([command, choice, 1, 0x48]) + len(body).to_bytes(2, "little") + body

    def log_in(token: bytes, choice: int) -> bytes:
        words = struct.pack("<BBHHHHIHII", 0xFF, 0, 0, 4356, 2, 1, 0, len(token), 0, 0x8000_0000)
        data = token + b"x\0x\0"
        return ask(0x73, choice, b"\x0c" + words + len(data).to_bytes(2, "little") + data)

    # MD4 of the password, which new systems no longer have; then [MS-NLMP] 3.3.2 and 2.2.1.3.
    key = bytes.fromhex("32dd88ba05015976331dd499de64e9d9")
    key = hmac.digest(key, "U".encode("utf-16-le"), "md5")
    blob = b"\1\1" + bytes(26)
    nt = hmac.digest(key, bytes([7] * 8) + blob, "md5") + blob
    user = "u".encode("utf-16-le")
    proof, at = b"NTLMSSP\0" + (3).to_bytes(4, "little"), 64
    for content in (b"", nt, b"", user, b"", b""):
        proof += struct.pack("<HHI", len(content), len(content), at)
        at += len(content)
    proof += (1).to_bytes(4, "little") + nt + user
    offer = b"NTLMSSP\0" + struct.pack("<II", 1, 0x0201) + bytes(16)
    dialect = b"\2NT LM 0.12\0"
    begun = ask(0x72, 0, b"\0" + len(dialect).to_bytes(2, "little") + dialect)
    # The second by the first user that a server numbers.
    return begun + log_in(offer, 0) + log_in(proof, 2)


def smb1_waits() -> dict[str, bytes]:
    """Locks that another process of the client waits for, and each way in which a wait ends."""

    def ask(command: int, body: bytes, choice: int = 0) -> bytes:
        return bytes([command, choice, 1, 0x40]) + len(body).to_bytes(2, "little") + body

    def lock(pid: int, timeout_ms: int, kind: int = 0, unlocks: int = 0, choice: int = 0) -> bytes:
        words = struct.pack("<BBHHBBIHH", 0xFF, 0, 0, 0, kind, 0, timeout_ms, unlocks, 1 - unlocks)
        data = struct.pack("<HII", pid, 100, 10)
        return ask(0x24, b"\x08" + words + len(data).to_bytes(2, "little") + data, of_file | choice)

    late, other, of_file = 0x10, 0x40, 1
    echo = ask(0x2B, struct.pack("<BHH", 1, 1, 0), late)
    created = ask(0x03, struct.pack("<BHIH", 3, 0, 0, 7) + b"\4A.TXT\0")
    begun = b"\3" + created + lock(1, 0) + lock(2, 300, choice=other)
    close = ask(0x04, struct.pack("<BHIH", 3, 0, 0xFFFFFFFF, 0), of_file)
    return {
        "wait-late": begun + echo,
        "wait-granted": begun + lock(1, 0, unlocks=1) + echo,
        "wait-cancelled": begun + ask(0xA4, b"\0\0\0", other) + echo,
        "wait-range-cancelled": begun + lock(2, 0, kind=8) + echo,
        "wait-closed": begun + close + echo,
        "wait-left": begun + lock(3, 0xFFFFFFFF) + lock(4, 100, kind=1),
    }


def nbf_frames() -> dict[str, bytes]:
    """Frames of other encoders, of every framing and command."""
    frames = CORPUS.parents[1] / "crates" / "wire" / "tests" / "frames" / "nbf.txt"
    lines = [line for line in frames.read_text().splitlines() if not line.startswith("#")]
    return {f"{number:02}": bytes.fromhex(line) for number, line in enumerate(lines[::2])}


def heard_frames() -> dict[str, bytes]:
    """Frames of a segment, each after its length and the time since the one before."""

    def framed(destination: bytes, kind: int | None, payload: bytes) -> bytes:
        padded = payload + bytes(max(0, 46 - len(payload)))
        number = len(payload) if kind is None else kind
        return destination + b"\2\0\0\0\0\1" + number.to_bytes(2) + padded

    def segment(*frames: bytes) -> bytes:
        return b"".join(bytes([min(len(frame), 255), 30]) + frame for frame in frames)

    everyone, other = b"\xff" * 6, b"\2\0\0\0\0\2"
    arp = b"\0\1\x08\0\6\4\0%c" + b"\2\0\0\0\0\1" + b"\n\0\0\1" + bytes(6) + b"\n\0\0\2"
    asked = framed(everyone, 0x0806, arp % 1)
    answered = framed(other, 0x0806, arp % 2)
    station = bytes(3) + b"\x17" + b"\2\0\0\0\0\1"
    every = bytes(3) + b"\x17" + b"\xff" * 6

    def ipx(data: bytes) -> bytes:
        length = (30 + len(data)).to_bytes(2)
        return b"\xff\xff" + length + b"\0\4" + every + b"\4\x52" + station + b"\4\x52" + data

    server = b"\0\4" + b"FS1".ljust(48, b"\0") + station + b"\4\x51" + b"\0\1"
    nearest, sap = ipx(b"\0\3\0\4"), ipx(b"\0\2" + server * 2)

    def udp(port: int, data: bytes) -> bytes:
        datagram = port.to_bytes(2) * 2 + (8 + len(data)).to_bytes(2) + b"\0\0" + data
        length = (20 + len(datagram)).to_bytes(2)
        addresses = b"\n\0\0\1\n\0\0\xff"
        return b"\x45\0" + length + b"\0\0\0\0\x40\x11\0\0" + addresses + datagram

    name = b"\x20" + b"EMFACACACACACACACACACACACACACAAA" + b"\0"
    query = b"\0\7\1\x10\0\1\0\0\0\0\0\0" + name + b"\0\x20\0\1"
    announced = b"\1\0\x80\xfc\n\0" + b"STATION".ljust(16, b"\0") + b"\4\0\3\x20\0\0\x0f\1\x55\xaa"
    smb = b"\xffSMB\x25" + bytes(27) + b"\x11" + bytes(34) + b"\\MAILSLOT\\BROWSE\0" + announced
    datagram = b"\x11\2\0\1\n\0\0\1\0\x8a\0\xc8\0\0" + name * 2 + smb
    claim = bytes.fromhex("f0f0032c00ffef010000000000070000") + bytes(15) + b"LANLAB".ljust(16)
    seeds = {
        "arp": segment(asked, answered),
        "raw-802.3": segment(framed(everyone, None, nearest), framed(everyone, None, sap)),
        "ethernet-ii": segment(framed(everyone, 0x8137, nearest), framed(everyone, 0x8137, sap)),
        "llc": segment(framed(everyone, None, b"\xe0\xe0\3" + nearest)),
        "snap": segment(framed(everyone, None, b"\xaa\xaa\3\0\0\0\x81\x37" + sap)),
        "3com": segment(framed(everyone, None, b"\x80\x80\3\6\0" + nearest)),
        "name-service": segment(framed(everyone, 0x0800, udp(137, query))),
        "browser": segment(framed(everyone, 0x0800, udp(138, datagram))),
        "announcement": announced,
        "netbeui": segment(framed(b"\3\0\0\0\0\1", None, claim)),
        "sap": sap[30:],
        "wrong": segment(b"", asked[:13], framed(other, 1501, b"x"), framed(other, 46, b"")),
    }
    return {**seeds, "all": b"".join(seeds[name] for name in ("arp", "snap", "browser", "netbeui"))}


def nbf_stations() -> dict[str, bytes]:
    """Conversations with a station: links, names, sessions called and taken, faults."""
    link = bytes([7, 0])
    call = bytes([2, 7, 0, 1, 0, 0x10, 0])
    initialize = bytes([4, 5, 0x8F, 200, 0, 0])
    accepted = call + link + initialize
    part, last = bytes([4, 1, 1, 0, 0, 200]), bytes([4, 2, 4, 0, 0, 3])
    send, ready = bytes([13, 3, 100]), bytes([9, 0])
    acknowledged, late = bytes([4, 0, 0, 0, 0, 0]), bytes([11, 9])
    found, called = bytes([2, 9, 0, 0, 0, 0x01, 0]), bytes([2, 9, 0, 2, 0, 0x01, 0])
    opened = bytes([13, 0x10]) + found + called + bytes([0x17, 0])
    confirmed = opened + ready + bytes([4, 3, 0x81, 200, 0, 0])
    scripts = {
        "taken": accepted + part + last + late,
        "answered": accepted + last + send + ready + acknowledged + bytes([13, 2]) + ready,
        "called": confirmed + send + ready + acknowledged + last,
        "paused": accepted + part + bytes([13, 7]) + part + last + bytes([13, 8]) + part + last,
        "busy": accepted + send + bytes([9, 0x20]) + late * 3 + ready,
        "rejected": accepted + send + bytes([9, 0x30]) + bytes([9, 0xD0]) + bytes([0x28, 5]),
        "lost": accepted + send + late * 40,
        "reset": accepted + send + link + call + initialize + bytes([8, 0]),
        "names": bytes([13, 0x19, 2, 1, 0, 0, 0, 0x10, 0, 2, 2, 0, 0, 0, 0, 0, 13, 0x0B, 13, 0x0C]),
        "collision": bytes([13, 0x10]) + found + called + link + bytes([11, 9]) + late,
        "status": bytes([2, 3, 1, 255, 1, 0x00, 0, 2, 10, 1, 0, 0, 0, 0]) + bytes([0x38, 3]),
        "ended": accepted + bytes([4, 4, 0, 1, 0, 0]) + call + initialize,
    }
    seeds = {name: bytes([1]) + script for name, script in scripts.items()}
    for profile in range(5):
        seeds[f"profile-{profile}"] = bytes([profile]) + accepted + send + ready + part + last
    return seeds


def ipx_stations() -> dict[str, bytes]:
    """Conversations with a station on IPX: names, sessions called and taken, repeats, routers."""

    def packet(who: int, value: int, data: bytes) -> bytes:
        return bytes([6, who, value, len(data)]) + data

    def smb(command: int, sequence: int = 0, connection: int = 0, number: int = 1) -> bytes:
        numbers = bytes(4) + connection.to_bytes(2, "little") + sequence.to_bytes(2, "little")
        ids = bytes(4) + number.to_bytes(2, "little") + bytes(2) + number.to_bytes(2, "little")
        return b"\xffSMB" + bytes([command]) + bytes(9) + numbers + ids + b"\xff\xff\0\0\0"[2:]

    def name(command: int, called: bytes, message: int = 1) -> bytes:
        both = called.ljust(15) + b"\x20" + b"OTHER".ljust(15) + b"\0"
        return bytes(32) + bytes([command, 1]) + message.to_bytes(2, "little") + both

    def netbios(kind: int, name: bytes) -> bytes:
        return packet(24, 0, bytes(33) + bytes([kind]) + name.ljust(15) + b"\x20")

    def session(control: int, stream: int, sequence: int = 1, data: bytes = b"") -> bytes:
        total = struct.pack("<6H", 1, sequence, len(data), 0, len(data), 1)
        header = bytes([control, stream - 6, 0, 0]) + total + struct.pack("<H", 9)
        return packet(24, 8, header + data)

    def xns(who: int, value: int, data: bytes) -> bytes:
        return bytes([7, who, value, len(data)]) + data

    def spp(control: int, stream: int = 0, sequence: int = 1, data: bytes = b"") -> bytes:
        header = struct.pack(">BBHHHHH", control, stream, 0, 0, sequence, 1, 9)
        return xns(0, 9, header + data)

    ready = bytes([2, 50, 60, 0])
    listening = bytes([0, 0, 0, 0]) + ready
    opening = struct.pack("<BBHHHHHHHH", 0x41, 6, 7, 0xFFFF, 0, 38, 0, 38, 0, 3)
    names = b"OTHER".ljust(15) + b"\0" + b"STATION".ljust(15) + b"\x20"
    call = packet(24, 0, opening + names + struct.pack("<HHH", 1440, 0x25, 0x0D))
    first = packet(0, 8, smb(0x72))
    answer = bytes([3, 0, 12, 0])
    taken = listening + first + answer
    write = packet(0, 8, smb(0x0B, sequence=1, connection=1, number=2))
    called = bytes([1, 0, 0, 0])
    found = packet(4, 0, name(0xF4, b"SERVER", 2))
    late = bytes([2, 200, 20, 0])
    xns_call = xns(0, 0, struct.pack(">BBHHHHH", 0xC0, 0, 5, 0, 0, 0, 2))
    server = b"SERVER".ljust(15) + b"\x20"
    xns_asked = bytes([1, 0, 2, 0]) + xns(4, 9, bytes(6) + server)
    routes = bytes([0, 2, 0, 0, 0, 7, 0, 1, 0, 1])
    return {
        "taken": taken + write + answer,
        "repeated": taken + write + write + answer + write,
        "unknown": taken + packet(1, 8, smb(0x0B, sequence=1, connection=9)),
        "anew": taken + first + packet(0, 8, smb(0x72, number=9)) + late * 3,
        "called": ready + called + found + bytes([3, 0, 8, 0]) + packet(16, 12, b""),
        "lost": ready + called + found + bytes([3, 0, 8, 0]) + late * 20,
        "paused": taken + bytes([4, 0, 1, 0]) + write + bytes([4, 0, 2, 0]) + answer,
        "closed": taken + bytes([4, 0, 0, 0]) + write,
        "names": listening
        + packet(4, 0, name(0xF1, b"STATION"))
        + packet(5, 2, name(0xF3, b"STATION")),
        "conflict": packet(4, 0, name(0xF4, b"STATION", 1)) + ready,
        "services": listening
        + packet(8, 0, bytes([0, 1, 6, 0x40]))
        + packet(9, 4, bytes([0, 3, 6, 0x40])),
        "routes": packet(12, 6, routes) + ready,
        "hops": listening + packet(0, 0xF8, smb(0x72)),
        "netbios-taken": listening + call + call + session(0x50, 6, 1, b"message"),
        "netbios-parts": listening + call + session(0x10, 6, 3) + session(0x10, 6, 1) * 2,
        "netbios-ended": listening + call + session(0x40, 7) * 2 + call,
        "netbios-silent": listening + call + late * 20,
        "netbios-called": ready + bytes([1, 0, 1, 0]) + netbios(2, b"SERVER") + session(0x81, 6),
        "netbios-names": listening + b"".join(netbios(kind, b"STATION") for kind in (1, 3, 4, 5)),
        "xns-taken": listening + xns_call + spp(0x10, data=b"message") + answer + spp(0xC0) * 4,
        "xns-early": listening + xns_call + spp(0, 0, 3) + spp(0x10, 0, 2) + spp(0x70, 0, 1),
        "xns-ended": listening + xns_call + spp(0x40, 1) * 2 + spp(0, 2) + xns_call + late,
        "xns-closed": listening + xns_call + bytes([4, 0, 0, 0]) + spp(0, 2) + late * 9,
        "xns-silent": listening + xns_call + answer + late * 99,
        "xns-called": xns_asked + spp(0x80) + answer + spp(0x80, 0, 1) + late,
        "xns-errors": xns_asked + xns(8, 9, b"\2") + listening + xns_call + xns(8, 9, b"\3"),
        "xns-echo": xns(12, 0, b"\0\1data") + xns(12, 2, b"\0\2") + xns(4, 1, b"\0\0\0\1\0\0"),
        "frame": bytes([5, 0, 0, 60]) + b"\2\0\0\0\0\1\2\0\0\0\1\1\x81\x37" + bytes(46),
    }


def ncp_stations() -> dict[str, bytes]:
    """Conversations with a station of NetWare: logins, files, searches, its own client, others."""

    def packet(value: int, data: bytes, who: int = 0) -> bytes:
        return bytes([6, who, value, len(data)]) + data

    def ask(function: int, data: bytes = b"", part: int | None = None) -> bytes:
        head = b"" if part is None else (1 + len(data)).to_bytes(2) + bytes([part])
        return packet(1, bytes([function]) + head + data)

    def text(name: bytes) -> bytes:
        return bytes([len(name)]) + name

    def answer(data: bytes = b"") -> bytes:
        return packet(4, data)

    begun = bytes([0, 0, 0, 0]) + packet(0, b"\0")
    login = begun + ask(0x17, b"\0\1" + text(b"U") + text(b"P"), 0x14)
    volume = login + ask(0x21, b"\4\0") + ask(0x16, b"\0F" + text(b"SYS:"), 0x12)
    handle = b"\0\1\0\0\0\1"
    made = volume + ask(0x4D, b"\1\0" + text(b"A.B"))
    written = made + ask(0x49, b"\0" + handle + bytes(4) + b"\0\3abc")
    folders = volume + ask(0x16, b"\1\xff" + text(b"D"), 0x0A)
    late = bytes([2, 200, 250, 0])
    called = bytes([1, 0, 0, 0]) + answer()
    connected = called + answer(b"\4\0") + answer(bytes(128)) + answer(bytes(8))
    connected += answer(b"\0\1\0\1\0\1" + bytes(48)) + answer() + answer(b"\1\xff")
    entry = b"A.B".ljust(14, b"\0") + bytes(14)
    seeds = {
        "information": begun + ask(0x17, b"", 0x11) + ask(0x14) + ask(0x17, b"", 0x17),
        "bindery": login
        + ask(0x17, b"\0\1" + text(b"U"), 0x35)
        + ask(0x17, b"\0\1\0\1", 0x36)
        + ask(0x17, b"\xff" * 4 + b"\0\1" + text(b"*"), 0x37),
        "keyed": begun + ask(0x17, b"", 0x17) + ask(0x17, bytes(8) + b"\0\1" + text(b"U"), 0x18),
        "written": written
        + ask(0x48, b"\0" + handle + b"\0\0\0\1\2\0")
        + ask(0x47, b"\0" + handle),
        "closed": written + ask(0x3B, b"\0" + handle) + ask(0x42, b"\0" + handle) + ask(0x18),
        "erased": written + ask(0x42, b"\0" + handle) + ask(0x44, b"\1\6" + text(b"*.*")),
        "renamed": made
        + ask(0x42, b"\0" + handle)
        + ask(0x45, b"\1\6" + text(b"A.B") + b"\1" + text(b"C")),
        "searched": made
        + ask(0x40, b"\xff\xff\1\6" + text(b"\xff\xaa\xae\xff\xaa"))
        + ask(0x3E, b"\1" + text(b""))
        + ask(0x3F, b"\0\0\1\xff\xff\x10" + text(b"*")),
        "folders": folders
        + ask(0x16, b"\1[" + text(b"D"), 0x13)
        + ask(0x16, b"\2", 0x01)
        + ask(0x16, b"\1" + text(b"D") + text(b"E"), 0x0F)
        + ask(0x16, b"\1\0" + text(b"E"), 0x0B),
        "paths": volume + ask(0x4C, b"\1\6\1" + text(b"..\\A")) + ask(0x16, b"\1", 0x15),
        "ended": written + packet(3, b""),
        "anew": written + late + packet(0, b"\0"),
        "watched": volume + late * 8 + packet(8, b"\1Y") + late * 20,
        "paused": volume + bytes([4, 0, 1, 0]) + ask(0x14) + bytes([4, 0, 2, 0]),
        "client": connected
        + bytes([3, 0, 0, 1, 7])
        + answer(handle + bytes(2) + entry)
        + bytes([3, 0, 0x12, 0])
        + answer(b"\0\1x"),
        "listing": connected + bytes([3, 0, 4, 0]) + answer(b"\0\1\0\0" + entry) + packet(6, b""),
        "late": connected + bytes([3, 0, 6, 0]) + packet(5, b"") + late * 8,
        "services": bytes([1, 0, 1, 0])
        + packet(0x28, bytes([0, 2, 0, 4]) + b"SERVER".ljust(62, b"\0")),
    }
    choices = (0, 1, 9, 17, 8, 3, 4, 6)
    return {
        name: bytes([choices[number % len(choices)]]) + seed
        for number, (name, seed) in enumerate(seeds.items())
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
        "ipx_station": ipx_stations(),
        "ncp_station": ncp_stations(),
        "ftp_answers": services.ftp_answers(),
        "http_answers": services.http_answers(),
        "heard_frames": heard_frames(),
        "nbf_frames": nbf_frames(),
        "nbf_station": nbf_stations(),
        "nfs_answers": services.nfs_answers(),
        "nfs_calls": services.nfs_calls(),
        "s3_requests": services.s3_requests(),
        "sftp_messages": services.sftp_messages(),
        "smb1_client": smb1_sessions(),
        "smb1_messages": smb1(),
        "smb1_server": smb1_requests(),
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
