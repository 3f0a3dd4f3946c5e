"""Seeds of SMB 1: messages, and what both ends say to each other."""

from __future__ import annotations

import hmac
import struct

from seed_parts import FRAMES


def smb1() -> dict[str, bytes]:
    """The first message of each command and side, and the other things that are parsed."""
    seeds = {"listing": b"\4\2\2" + bytes(96), "name": b"\5F?o*.txtfoobar.txt"}
    for line in (FRAMES / "smb1.txt").read_text().splitlines():
        if line[:1] not in "<>":
            continue
        packet = bytes.fromhex(line[2:])
        if packet[4:8] == b"\xffSMB":
            side = "request" if line[0] == ">" else "response"
            seeds.setdefault(f"{packet[8]:02x}-{side}", bytes([line[0] == ">"]) + packet[4:])
        else:
            seeds.setdefault(f"packet-{packet[0]:02x}", b"\3" + packet)
    for line in (FRAMES / "nbns.hex").read_text().splitlines():
        if not line.startswith("#"):
            name, octets = line.split()
            seeds[f"nbns-{name}"] = b"\2" + bytes.fromhex(octets)
    return seeds


def smb1_sessions() -> dict[str, bytes]:
    """Answers of Samba, one after another, as a client of each dialect would get them."""
    frames = FRAMES / "smb1.txt"
    answers: dict[int, list[bytes]] = {}
    for line in frames.read_text().splitlines():
        packet = bytes.fromhex(line[2:]) if line.startswith("<") else b""
        if packet[4:8] == b"\xffSMB":
            status, body = packet[9:13], packet[36:]
            answer = b"\0\xff" + status + len(body).to_bytes(2, "little") + body
            answers.setdefault(packet[8], []).append(answer)

    nothing = b"\0\xff" + bytes(4) + b"\3\0" + bytes(3)

    may_write = b"\0\xff" + bytes(4) + b"\5\0" + b"\1\xff\xff\0\0"
    wrote = b"\0\xff" + bytes(4) + b"\5\0" + b"\1\3\0\0\0"

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
        "raw": session(0x40, 17, 0x73, 0x75, 0xA2, 0xA2, 0x1A) + may_write + wrote,
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
    frames = FRAMES / "smb1.txt"
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
