"""`lanlab serve --service smb1` for machines that know no users, with a password that stays."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Lanlab
from old_machine import CORE, CORE_PLUS, LAN_MANAGER_2, MS_NET_3, OldMachine, RefusedError
from served import serving

from lanlab.errors import EngineError

PROGRAM = b"G01 X1 Y2\r\n" * 20


@contextmanager
def machine(said: dict[str, str], *dialects: str) -> Iterator[OldMachine]:
    port = int(said["address"].rpartition(":")[2].partition("/")[0])
    one = OldMachine(port)
    try:
        one.negotiate(*dialects)
        yield one
    finally:
        one.close()


def use(one: OldMachine, password: str = "") -> None:
    """What such a machine does: it keeps a program on the server, and takes it from there."""
    one.connect("lanlab", password)
    one.write("PART1.NC", PROGRAM)
    assert one.read("PART1.NC") == PROGRAM
    assert "PART1.NC" in one.names()
    one.remove("PART1.NC")


@pytest.mark.parametrize(
    ("offered", "chosen", "words"),
    [
        ((CORE,), CORE, 1),
        ((CORE_PLUS,), CORE_PLUS, 13),
        ((CORE, CORE_PLUS), CORE_PLUS, 13),
        ((CORE, CORE_PLUS, MS_NET_3, "MICROSOFT NETWORKS DEC"), MS_NET_3, 13),
        ((CORE, MS_NET_3, "DOS LM1.2X002", LAN_MANAGER_2), LAN_MANAGER_2, 13),
        (("PCLAN1.0",), "PCLAN1.0", 1),
    ],
)
def test_a_machine_without_users_is_served_as_a_guest(
    offered: tuple[str, ...], chosen: str, words: int, tmp_path: Path
) -> None:
    argv = (str(tmp_path), "--service", "smb1", "--write", "--guest")
    with serving(*argv) as (_, said), machine(said, *offered) as one:
        assert "password" not in said
        assert said["protection"].startswith("none: no password")
        assert (one.dialect, len(one.words)) == (chosen, 2 * words)
        if words == 13:
            # Each share is for all: there is no user, no challenge.
            assert one.words[2:4] == b"\0\0"
            assert one.words[22:24] == b"\0\0"
        use(one)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("offered", [(CORE,), (CORE_PLUS,), (CORE, MS_NET_3)])
def test_a_password_of_the_user_is_that_of_the_share_and_stays(
    offered: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", "Lathe-1")
    argv = (str(tmp_path), "--service", "smb1", "--write")
    for _ in range(2):
        with serving(*argv) as (_, said):
            assert said["password"] == "as you gave it"
            # DOS writes it in upper case.
            with machine(said, *offered) as one:
                use(one, "LATHE-1")
            with machine(said, *offered) as one, pytest.raises(RefusedError, match=r"\(2, 2\)"):
                one.connect("lanlab", "")


def test_dialects_outside_the_range_are_not_offered(tmp_path: Path) -> None:
    argv = (str(tmp_path), "--service", "smb1", "--guest", "--dialect")
    with serving(*argv, "core") as (_, said):
        with machine(said, CORE, MS_NET_3, "NT LM 0.12") as one:
            assert one.dialect == CORE
        with machine(said, "NT LM 0.12") as one:
            assert one.dialect is None
    with serving(*argv, "lanman1..lm12x002") as (_, said):
        assert said["dialects"] == "lanman1, lm12x002"
        assert said["clients"].startswith("before Windows 2000 use port 139 only")
        with machine(said, CORE) as one:
            assert one.dialect is None
        with machine(said, CORE, MS_NET_3, LAN_MANAGER_2, "NT LM 0.12") as one:
            assert one.dialect == LAN_MANAGER_2


@pytest.mark.parametrize("secret", ["", "fifteen letters", "Größe"])
def test_a_password_that_old_machines_cannot_hold_is_refused(
    secret: str, tmp_path: Path, lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", secret)
    done = lanlab("serve", str(tmp_path), "--service", "smb1")
    assert (done.code, "1 to 14 characters of ASCII" in done.err) == (2, True), done.err


def test_a_port_that_takes_root_is_refused_with_a_hint(
    lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: object) -> None:
        raise EngineError("system.permission", "TCP port 139 on 127.0.0.1: Permission denied")

    monkeypatch.setattr("lanlab.cli.serving.files.serving", refused)
    said = lanlab("serve", ".", "--service", "smb1", "--port", "139")
    assert (said.code, said.out) == (1, "")
    assert "hint: a port below 1024 takes root" in said.err
    assert "net.ipv4.ip_unprivileged_port_start=139" in said.err
