"""The virtual LAN: what it refuses, what it does when the system fails it, and its rights."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from programs import ran
from testbed_opening import Open
from testbed_peers import marked_by, network_of, reaches
from waiting import await_end

import lanlab
from lanlab.engine.locate import engine_path
from lanlab.errors import RunError, UnmetNeed, UsageError
from lanlab.testbeds.registry import testbed as open_testbed
from lanlab.testbeds.virtual import VirtualTestbed

pytestmark = pytest.mark.rights


@pytest.fixture
def as_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanlab.testbeds.namespaces.os.geteuid", lambda: 1000)


def no_engine() -> str:
    raise UnmetNeed("no engine here", hint="build it")


@pytest.mark.parametrize(
    ("name", "hosts", "link", "message"),
    [
        ("virtual", 1, "unshaped", "1 hosts; allowed: 2 to 256"),
        ("virtual", 257, "unshaped", "257 hosts; allowed: 2 to 256"),
        ("virtual", 3, "10M:cable", "a cable joins 2 hosts, not 3"),
        ("virtual", 2, "10M:ring", "no topology named `ring`; allowed: cable, switch, hub"),
        ("virtual", 2, "fast", "link: `fast` is not a number with a unit"),
        ("virtual", 2, "100G", "100 Gbit/s cannot be shaped; allowed: 1.00 kbit/s to 10.0 Gbit/s"),
        ("virtual", 2, "0", "cannot be shaped"),
        ("loopback", 2, "10M", "loopback has no link `10M`; allowed: unshaped"),
        ("loopback", 2, "unshaped:switch", "loopback has no link"),
        ("loopback", 0, "unshaped", "0 hosts; allowed: 1 to 256"),
    ],
)
def test_impossible_options_are_refused(name: str, hosts: int, link: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        open_testbed(name, hosts, link)
    assert marked_by(os.getpid()) == []


@pytest.mark.parametrize(
    ("missing", "link", "package"),
    [
        ("ip", "unshaped", "iproute2"),
        ("tc", "1G", "iproute2"),
        ("bridge", "1G:switch", "iproute2"),
        ("nsenter", "10M", "util-linux"),
        ("unshare", "10M", "util-linux"),
    ],
)
def test_a_missing_tool_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, link: str, package: str
) -> None:
    for name in ("ip", "tc", "bridge", "nsenter", "unshare", "cat", "env"):
        if name != missing:
            (tmp_path / name).symlink_to("/bin/true")
    monkeypatch.setattr("lanlab.testbeds.tools._SYSTEM_FOLDERS", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    message = f"need `{missing}` from {package}, not found on PATH"
    with pytest.raises(UnmetNeed, match=re.escape(message)) as caught:
        open_testbed("virtual", 2, link)
    assert caught.value.hint == f"apt install {package}"


def test_refused_namespaces_are_a_need_with_the_settings_to_look_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unshare = tmp_path / "unshare"
    unshare.write_text("#!/bin/sh\necho 'unshare: unshare failed: Not permitted' >&2\nexit 1\n")
    unshare.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(UnmetNeed, match="unshare failed: Not permitted") as caught:
        open_testbed("virtual", 2, "unshaped")

    assert caught.value.hint is not None
    for name in (
        "kernel.unprivileged_userns_clone",
        "user.max_user_namespaces",
        "kernel.apparmor_restrict_unprivileged_userns",
        "--testbed loopback",
    ):
        assert name in caught.value.hint
    assert marked_by(os.getpid()) == []


def test_a_missing_engine_is_reported_before_anything_is_created(open_bed: Open) -> None:
    open_bed("virtual", 2, "unshaped").close()
    for link in ("unshaped", "10M"):
        with pytest.raises(UnmetNeed, match="no engine here"):
            VirtualTestbed(2, link, find_engine=no_engine)
    assert marked_by(os.getpid()) == []


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        # What `ip` wrote is in the message.
        ("link set eth9 up\n", r'-batch -` failed \(1\): Cannot find device "eth9"'),
        # No host has an interface yet.
        ("", r"a host's interface: eth0 of process \d+: No such device"),
    ],
)
def test_a_step_that_fails_gives_the_reason_and_leaves_nothing(
    open_bed: Open, monkeypatch: pytest.MonkeyPatch, batch: str, says: str
) -> None:
    open_bed("virtual", 2, "unshaped").close()
    monkeypatch.setattr("lanlab.testbeds.wiring.cable_batch", lambda pid: batch)
    with pytest.raises(RunError, match=says):
        open_testbed("virtual", 2, "unshaped")
    assert marked_by(os.getpid()) == []


def test_a_hundred_hosts_take_a_process_each_and_one_for_all(open_bed: Open) -> None:
    open_bed("virtual", 2, "10M").close()
    started: list[str] = []
    before = subprocess.Popen.__init__

    def counted(process: Any, argv: Any, *rest: Any, **named: Any) -> None:
        started.append(str(argv))
        before(process, argv, *rest, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", counted)
        with open_testbed("virtual", 100, "100M:switch") as bed:
            # A holder for each and one for the medium, and the engine.
            assert len(started) == 102
            bed.counters()
            assert bed.damage() is None
            assert len(started) == 102


def test_a_failing_engine_gives_the_reason_and_leaves_nothing(
    open_bed: Open, tmp_path: Path
) -> None:
    open_bed("virtual", 2, "unshaped").close()
    broken = tmp_path / "engine"
    real = shlex.quote(engine_path())
    serves = f"[ $# -gt 0 ] || exec {real}"
    broken.write_text(f"#!/bin/sh\n{serves}\necho offloads: device is busy >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(RunError, match=r"--set off` failed .*: offloads: device is busy"):
        VirtualTestbed(2, "10M+tbf", find_engine=lambda: broken)
    assert marked_by(os.getpid()) == []


def test_a_medium_that_does_not_start_gives_the_reason_and_leaves_nothing(
    open_bed: Open, tmp_path: Path
) -> None:
    open_bed("virtual", 2, "10M").close()
    broken = tmp_path / "engine"
    broken.write_text("#!/bin/sh\necho no such thing >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(RunError, match="medium: the engine ended with exit code 1: no such thing"):
        VirtualTestbed(2, "10M", find_engine=lambda: broken)
    assert marked_by(os.getpid()) == []


def test_ctrl_c_while_opening_leaves_nothing(open_bed: Open) -> None:
    open_bed("virtual", 2, "unshaped").close()
    code = """
import itertools, os, signal, sys
from lanlab.testbeds.registry import testbed
steps = itertools.count(1)

def step(event, _):
    if next(steps) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGINT)

# What Python does of files, processes and sockets.
sys.addaudithook(step)
for _ in range(1000):
    testbed("virtual", 3, "unshaped").close()
"""
    for step in (1, 10, 40, 90, 150, 220):
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(step)], stderr=subprocess.PIPE, text=True
        )
        errors = child.communicate(timeout=180)[1]
        assert "KeyboardInterrupt" in errors
        await_end([each.pid for each in marked_by(child.pid)])
        assert marked_by(child.pid) == []


def test_sixty_four_hosts_reach_each_other(open_bed: Open) -> None:
    bed = open_bed("virtual", 64, "unshaped")
    assert reaches(bed, 0, 63)
    assert reaches(bed, 63, 31)


def test_an_idle_switch_floods_nothing(open_bed: Open) -> None:
    bed = open_bed("virtual", 3, "unshaped")
    before = bed.counters()["host2/eth0"]["rx_packets"]
    for _ in range(3):
        assert reaches(bed, 0, 1)
    # Some reports of IPv6 multicast groups go to everyone after the start.
    assert bed.counters()["host2/eth0"]["rx_packets"] - before <= 6


def test_facts_state_the_rights_of_the_process(open_bed: Open, as_user: None) -> None:
    bed = open_bed("virtual", 2, "unshaped")
    assert bed.facts()["privileges"] == "user namespace"
    assert network_of(bed.hosts[0]) != network_of(bed.hosts[1])


def test_the_user_nobody_can_have_a_virtual_lan() -> None:
    if os.geteuid() != 0:
        pytest.skip("all the other tests are this one")
    setpriv, python = shutil.which("setpriv"), "/usr/bin/python3"
    if setpriv is None or not Path(python).exists():
        pytest.skip("needs `setpriv` and /usr/bin/python3 to become nobody")
    sources = f"PYTHONPATH={Path(lanlab.__file__).parents[1]}"
    nobody = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    nobody += ["env", sources, python, "-c"]
    check = "import sys, lanlab.testbeds.virtual; sys.exit(sys.version_info < (3, 11))"
    if subprocess.run([*nobody, check], capture_output=True, check=False).returncode:
        pytest.skip("nobody cannot run /usr/bin/python3 (>= 3.11) with these sources")
    code = f"""
import json, os, sys
sys.path[:0] = {[str(Path(one.__code__.co_filename).parent) for one in (reaches, ran)]}
from lanlab.errors import UnmetNeed
from lanlab.testbeds.virtual import VirtualTestbed
from testbed_peers import marked_by, reaches
try:
    with VirtualTestbed(3, "10M", find_engine=lambda: sys.argv[1]) as bed:
        reached = reaches(bed, 0, 2) and reaches(bed, 1, 0)
        facts, processes = bed.facts(), len(marked_by(os.getpid()))
except UnmetNeed as error:
    print(json.dumps({{"unmet": error.message}}))
else:
    left = len(marked_by(os.getpid()))
    print(json.dumps([reached, facts["privileges"], processes, left]))
"""
    # Root's home may be closed to others.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        engine = shutil.copy(engine_path(), folder)
        done = ran([*nobody, code, engine])
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    if isinstance(said, dict):
        pytest.skip(said["unmet"])
    # Three hosts, the medium's namespace and its engine.
    assert said == [True, "user namespace", 5, 0]
