"""Names of hosts and files of them, and engines that are named, before anything is reached."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from lanlab.cli.options import hosts as host_options
from lanlab.engine.travelling import parse_named_engines, travelling_engine
from lanlab.errors import UnknownName, UnmetNeed, UsageError
from lanlab.testbeds import testbed as open_testbed
from lanlab.testbeds.remote.destinations import (
    Destination,
    parse_destination,
    read_destinations,
)
from lanlab.testbeds.ssh import _make_folder


@pytest.mark.parametrize("name", ["a b", "50%", "it's", 'a"b', "a\\b", "$HOME", "x" * 60, "\u00e4"])
def test_socket_paths_need_no_quoting_by_ssh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))
    folder = _make_folder()
    assert folder.path.parent == Path("/tmp")
    assert len(f"{folder.path}/01234567.0123456789abcdef") <= 103
    folder.remove()
    assert not folder.path.exists()


def test_other_sockets_are_made_in_the_users_own_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="a+b-", dir="/tmp") as own:
        monkeypatch.setattr(tempfile, "tempdir", own)
        folder = _make_folder()
        assert folder.path.parent == Path(own)
        folder.remove()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("nas", Destination("nas")),
        ("here", Destination(None)),
        ("alice@nas.lan:2222", Destination("alice@nas.lan", 2222)),
        ("[fd00::2]:22", Destination("fd00::2", 22)),
        ("bob@[fd00::2]", Destination("bob@fd00::2")),
        ("here=10.0.0.1=fd00::1", Destination(None, None, ("10.0.0.1", "fd00::1"))),
        ("alice@nas%eth1", Destination("alice@nas", None, (), "eth1")),
        ("carol@corp.example@nas", Destination("carol@corp.example@nas")),
        ("corp\\bob@nas:2222", Destination("corp\\bob@nas", 2222)),
        ("jörg@[fd00::2]", Destination("jörg@fd00::2")),
    ],
)
def test_a_host_is_read_and_written_back(text: str, wanted: Destination) -> None:
    assert parse_destination(text) == wanted
    assert parse_destination(str(wanted)) == wanted


@pytest.mark.parametrize(
    "text",
    ["", "-oProxyCommand=id", "a b", "nas;id", "$(id)", "al'ice@nas", "nas:0", "nas:99999", "nas:",
     "@nas", "nas=", "nas=nas", "nas=224.0.0.1", "nas=0.0.0.0", "ssh://nas", "x" * 300, "näs"],
)  # fmt: skip
def test_an_invalid_host_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^host: "):
        parse_destination(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "allowed: `\\[\\[host\\]\\]` tables"),
        ("[host]\nssh = 'nas'", "allowed: `\\[\\[host\\]\\]` tables"),
        ("[[host]]\nssh = 'nas'", "1 hosts; allowed: 2 or more"),
        ("[[host]]\nname = 'nas'", "found `name`; allowed: `address`"),
        ("[[host]]\nssh = 7", "needs `ssh`, a text"),
        ("[[host]]\nssh = '-x'", "host 1: host: found `-x`"),
        ("[[host]]\nssh = 'nas'\nroles = 'boss'", "found role `boss`; allowed: sender"),
        ("[[host]]\nssh = 'nas'\nroles = ['client', 'server']", "allowed: roles of one end"),
        ("[[host", "not TOML"),
    ],
)
def test_a_file_that_names_no_hosts_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "lab.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=said) as refused:
        read_destinations(str(file))
    assert refused.value.message.startswith(str(file))


def test_roles_put_hosts_in_order(tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    file.write_text(
        "[[host]]\nssh = 'nas'\nroles = ['server']\n[[host]]\nssh = 'pc1'\nroles = 'client'\n"
    )
    assert [one.ssh for one in read_destinations(str(file))] == ["pc1", "nas"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ssh", "testbed `ssh` has no hosts"),
        ("ssh:", "0 hosts; allowed: 2 or more"),
        ("ssh:nas", "1 hosts; allowed: 2 or more"),
        ("ssh:no-such-file.toml", "no-such-file.toml"),
    ],
)
def test_a_testbed_without_hosts_is_refused(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        open_testbed(name, 2, "unshaped")


def test_real_hosts_accept_no_link_speed() -> None:
    with pytest.raises(UsageError, match="no link `10M`; allowed: unshaped"):
        open_testbed("ssh:here,nas", 2, "10M")
    with pytest.raises(UsageError, match="names 2 hosts; 3 are needed"):
        open_testbed("ssh:here,nas", 3, "unshaped")
    with pytest.raises(UnknownName):
        open_testbed("telnet:here,nas", 2, "unshaped")


def test_an_engine_is_named_for_its_architecture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnmetNeed, match="nas: no engine for riscv64") as lacking:
        travelling_engine("riscv64", "nas")
    assert "riscv64gc-unknown-linux-musl" in (lacking.value.hint or "")
    text = tmp_path / "engine"
    text.write_text("#!/bin/sh\n")
    monkeypatch.setenv("LANLAB_ENGINE_RISCV64", str(text))
    with pytest.raises(UsageError, match="is not a Linux program for riscv64"):
        travelling_engine("riscv64", "nas")
    text.unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        travelling_engine("riscv64", "nas")


@pytest.mark.parametrize("text", ["x", "aarch64", "=x", "aarch64=", "aarch64=/no/such"])
def test_an_engine_without_file_or_architecture_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--engine: "):
        parse_named_engines([text])


def test_the_engine_of_this_machine_travels_whole() -> None:
    engine = travelling_engine(os.uname().machine, "nas")
    assert engine.content[:4] == b"\x7fELF"
    assert len(engine.sha256) == 64


@pytest.mark.parametrize(
    ("roles", "wanted"),
    [
        (["client", "client", "server"], ["host0", "host2", "host1"]),
        (["server", None, None], ["host1", "host0", "host2"]),
        ([None, None, "client"], ["host2", "host0", "host1"]),
        ([None, None, None], ["host0", "host1", "host2"]),
    ],
)
def test_several_hosts_may_begin(
    tmp_path: Path, roles: list[str | None], wanted: list[str]
) -> None:
    file = tmp_path / "lab.toml"
    each = [f'roles = "{role}"' if role else "" for role in roles]
    file.write_text("".join(f'[[host]]\nssh = "host{n}"\n{role}\n' for n, role in enumerate(each)))
    assert [one.ssh for one in read_destinations(str(file))] == wanted


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        (["server", "client", "receiver"], "host0 and host2 are both servers"),
        (["client", "sender"], "no host has a role of receiver, responder, server"),
    ],
)
def test_a_file_names_one_host_that_answers(tmp_path: Path, roles: list[str], said: str) -> None:
    file = tmp_path / "lab.toml"
    each = enumerate(roles)
    file.write_text("".join(f'[[host]]\nssh = "host{n}"\nroles = "{role}"\n' for n, role in each))
    with pytest.raises(UsageError, match=said):
        read_destinations(str(file))


@pytest.mark.parametrize("option", ["to_host", "from_host", "to_address", "from_address"])
def test_a_file_of_hosts_is_named_by_the_testbed(option: str) -> None:
    names = ("to_host", "from_host", "to_address", "from_address", "engines")
    given: dict[str, Any] = {**dict.fromkeys(names), "remove_engine": False, option: "lab.toml"}
    with pytest.raises(
        UsageError, match=r": found `lab.toml`, which is a file; allowed: an? "
    ) as said:
        host_options.testbed_of("loopback", None, **given)
    assert said.value.hint == "for a file of hosts, use `--testbed ssh:lab.toml`"
    with pytest.raises(UsageError) as said:
        open_testbed("lab.toml")
    assert said.value.hint == "for a file of hosts, use `--testbed ssh:lab.toml`"
