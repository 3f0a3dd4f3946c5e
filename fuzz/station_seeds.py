"""Seeds of stations on Ethernet: NetBEUI, IPX, XNS and NetWare, and what is heard of others."""

from __future__ import annotations

import struct

from seed_parts import FRAMES


def nbf_frames() -> dict[str, bytes]:
    """Frames of other encoders, of every framing and command."""
    frames = FRAMES / "nbf.txt"
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

    def burst(value: int, total: int, offset: int, data: bytes = b"") -> bytes:
        data = total.to_bytes(2) + offset.to_bytes(2) + data
        return bytes([7, 0, value, len(data)]) + data

    offered = bytes(4) + b"\0\0\5\xdc\x40\3" + bytes(8)
    # Operations have their low octet first; a burst's number is the high half octet of a value.
    read = b"\1" + bytes(3) + b"\0\0\0\1" + bytes(8) + bytes(4) + b"\0\0\0\3"
    write = b"\2" + read[1:] + b"xyz"
    written_burst = made + ask(0x65, offered) + burst(1, 27, 20, write[20:])
    written_burst += burst(0, 27, 0, write[:20]) + burst(0x11, 24, 0, read)
    newer = called + answer(b"\4\0") + answer(bytes(48) + b"\3\x0c" + bytes(78))
    newer += answer(b"\5\xdc\x40\2\0") + answer(b"\0\0\0\x09\0\0\5\xdc") + answer(bytes(8))
    newer += answer(b"\0\1\0\1\0\1" + bytes(48)) + answer() + answer(b"\1\xff")
    newer += bytes([3, 0, 0, 1, 7]) + answer(handle + bytes(2) + entry) + bytes([3, 0, 0x12, 0])
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
        "bursts": written_burst + burst(0x12, 8, 0) + burst(0x11, 24, 0, read) + late,
        "client-bursts": newer
        + burst(0x07, 0, 0)
        + burst(0x05, 9, 8, b"x")
        + burst(0x04, 9, 0, bytes(7) + b"\1"),
        "services": bytes([1, 0, 1, 0])
        + packet(0x28, bytes([0, 2, 0, 4]) + b"SERVER".ljust(62, b"\0")),
    }
    choices = (0, 1, 9, 17, 8, 3, 4, 6)
    return {
        name: bytes([choices[number % len(choices)]]) + seed
        for number, (name, seed) in enumerate(seeds.items())
    }
