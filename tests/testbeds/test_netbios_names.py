"""A server is found by its NetBIOS name: Samba's nmbd on another host of a virtual LAN answers."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from missing import missing
from testbed_opening import Open
from waiting import PATIENCE_S

from lanlab.engine.locate import engine_path
from lanlab.engine.process import Engine
from lanlab.errors import EngineError

_CONFIGURATION = """\
[global]
netbios name = OLD-BOX
workgroup = LAB
server role = standalone server
interfaces = eth0
bind interfaces only = yes
private dir = {folder}
lock directory = {folder}
state directory = {folder}
cache directory = {folder}
pid directory = {folder}
wins support = yes
log file = {folder}/nmbd.log
"""


def _address(engine: Engine, name: str, *, netbios: bool = True, wins: str | None = None) -> str:
    request = {"type": "resolve", "name": name, "family": "ipv4", "netbios": netbios, "wins": wins}
    return str(engine.start(request).result(30)["address"])


def _await_name(engine: Engine, name: str) -> str:
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return _address(engine, name)
        except EngineError:
            if time.monotonic() > until:
                raise


def test_a_host_that_only_netbios_knows_is_found(open_bed: Open, tmp_path: Path) -> None:
    nmbd = shutil.which("nmbd", path="/usr/sbin:/usr/bin")
    if nmbd is None:
        missing("`nmbd` is not installed")
    if os.geteuid() != 0:
        # It opens a log and a directory of root's before it reads its configuration.
        pytest.skip("`nmbd` starts only as root")
    client, server = open_bed("virtual", 2, "100M").hosts
    configuration = tmp_path / "smb.conf"
    text = _CONFIGURATION.format(address=server.addresses["ipv4"], folder=tmp_path)
    configuration.write_text(text)
    argv = [*server.command_prefix, nmbd, "-F", "--no-process-group", "-s", str(configuration)]
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        with Engine(client.name, [*client.command_prefix, engine_path()]) as engine:
            assert _await_name(engine, "old-box") == server.addresses["ipv4"]
            with pytest.raises(EngineError, match=r"`old-box` has no IPv4 address") as refused:
                _address(engine, "old-box", netbios=False)
            assert "NetBIOS" not in refused.value.message
            # The same program is a WINS server, which has its own names.
            wins = str(server.addresses["ipv4"])
            assert _address(engine, "old-box", netbios=False, wins=wins) == wins
            unknown = f"WINS server {wins} does not know it"
            with pytest.raises(EngineError, match=unknown) as refused:
                _address(engine, "no-such-box", netbios=False, wins=wins)
            assert refused.value.code == "service.name"
            with pytest.raises(EngineError, match=f"{unknown}; as a NetBIOS name: no host"):
                _address(engine, "no-such-box", wins=wins)
            with pytest.raises(EngineError, match="nothing answers at its port"):
                _address(engine, "old-box", netbios=False, wins=str(client.addresses["ipv4"]))
            with pytest.raises(EngineError, match="no host of its networks answered") as refused:
                _address(engine, "no-such-box")
            assert refused.value.code == "service.name"
    finally:
        process.terminate()
        process.wait(10)
