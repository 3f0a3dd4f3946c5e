"""`lanlab serve` with names that stay, and the lists by which old clients find them."""

import shutil
import struct
from pathlib import Path

import pytest
from command_line import Lanlab
from missing import missing
from old_machine import CORE, LAN_MANAGER_2, MS_NET_3, OldMachine, RefusedError
from programs import ran
from served import serving

SECRET = "Lathe-1"
#: As the options of docs/old-machines.md.
NAMED = ("--service", "smb1", "--as", "cncfiles", "--share", "DATA", "--user", "cnc")


@pytest.fixture
def argv(tmp_path: Path) -> tuple[str, ...]:
    root = tmp_path / "cnc"
    root.mkdir()
    (root / "PART1.NC").write_bytes(b"G01 X1 Y2\r\n")
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    return (str(root), *NAMED, "--password-file", str(secret))


def port_of(said: dict[str, str]) -> int:
    return int(said["address"].rpartition(":")[2].partition("/")[0])


def test_the_server_uses_the_given_name_share_and_user(argv: tuple[str, ...]) -> None:
    for _ in range(2):
        with serving(*argv) as (_, said):
            assert said["user"] == "cnc"
            assert said["address"].startswith("smb1://cnc@127.0.0.1:")
            assert said["address"].endswith("/DATA")
            one = OldMachine(port_of(said))
            one.negotiate(CORE, MS_NET_3)
            one.connect("DATA", SECRET)
            assert one.read("PART1.NC") == b"G01 X1 Y2\r\n"
            one.close()


def rap(number: int, descriptors: bytes, *rest: bytes) -> bytes:
    return struct.pack("<H", number) + descriptors + b"".join(rest)


def asked(level: int, room: int = 1024) -> bytes:
    return struct.pack("<HH", level, room)


def test_an_old_machine_lists_shares_and_servers(argv: tuple[str, ...]) -> None:
    with serving(*argv) as (_, said):
        one = OldMachine(port_of(said))
        one.negotiate(CORE, MS_NET_3, LAN_MANAGER_2)
        one.connect("IPC$", SECRET, "IPC")
        words, data = one.administer(rap(0, b"WrLeh\0B13BWz\0", asked(1)))
        assert words == (0, 0, 2, 2)
        assert data[:14] == b"DATA".ljust(14, b"\0") and data[14:16] == b"\0\0"
        assert data[20:34] == b"IPC$".ljust(14, b"\0") and data[34:36] == b"\3\0"

        words, data = one.administer(
            rap(104, b"WrLehDO\0B16BBDz\0", asked(1), struct.pack("<I", 0xFFFF))
        )
        assert words == (0, 0, 1, 1)
        assert data[:16] == b"CNCFILES".ljust(16, b"\0")
        # More than there is room for is said to be there.
        words, data = one.administer(rap(0, b"WrLeh\0B13BWz\0", asked(1, 24)), 24)
        assert (words, len(data)) == ((234, 0, 1, 2), 21)
        # What is not known is refused, and the connection goes on.
        assert one.administer(rap(214, b"zb16g16\0\0"))[0][0] == 50
        words, data = one.administer(rap(13, b"WrLh\0B16BBDz\0", asked(1)))
        assert (words[0], data[:8]) == (0, b"CNCFILES")
        one.close()


def test_pipes_are_listed_for_those_who_log_in(argv: tuple[str, ...]) -> None:
    with serving(*argv) as (_, said):
        one = OldMachine(port_of(said))
        one.negotiate(CORE, MS_NET_3)
        with pytest.raises(RefusedError):
            one.connect("IPC$", "wrong", "IPC")
        one.close()


def test_smbclient_lists_them_too(argv: tuple[str, ...]) -> None:
    if shutil.which("smbclient") is None:
        missing("need `smbclient`, not found on PATH; apt install smbclient")
    with serving(*argv) as (_, said):
        done = ran(
            [
                *("smbclient", "-L", "127.0.0.1", "-p", str(port_of(said)), "-m", "NT1"),
                *("--option=client min protocol=NT1", "-U", f"cnc%{SECRET}", "-g"),
            ]
        )
    assert done.returncode == 0, done.stdout + done.stderr
    listed = done.stdout.splitlines()
    assert "Disk|DATA|" in listed and "IPC|IPC$|" in listed, listed


def test_serving_other_machines_prints_a_warning(tmp_path: Path, lanlab: Lanlab) -> None:
    done = lanlab(
        *("serve", str(tmp_path), "--service", "smb1", "--address", "127.0.0.1", "--time", "0.1")
    )
    assert (done.code, "encrypts nothing" in done.err) == (0, False), done.err
    # An address that is not of this machine, so that nothing is served there.
    done = lanlab("serve", str(tmp_path), "--service", "smb1", "--address", "192.0.2.1")
    assert done.code != 0
    assert "warning: smb1 encrypts nothing: who reads the network that 192.0.2.1" in done.err
