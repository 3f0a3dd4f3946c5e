"""The virtual LAN: what it refuses, what it does when the system fails it, and its rights."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from testbed_opening import Open, opening
from testbed_peers import await_end, marked_by, network_of, reaches

import lanlab
from lanlab.engine.locate import engine_path
from lanlab.errors import RunError, UnknownName, UnmetNeed, UsageError
from lanlab.testbeds.registry import testbed as open_testbed
from lanlab.testbeds.virtual import VirtualTestbed


@pytest.fixture
def open_bed() -> Iterator[Open]:
    """Open testbeds, or skip; they are closed after the test."""
    with opening() as open_or_skip:
        yield open_or_skip


@pytest.fixture
def as_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have root go the way that everyone else goes."""
    monkeypatch.setattr("lanlab.testbeds.namespaces.os.geteuid", lambda: 1000)


def no_engine() -> str:
    raise UnmetNeed("no engine here", hint="build it")


@pytest.mark.parametrize(
    ("name", "hosts", "link", "message"),
    [
        ("virtual", 1, "unshaped", "1 hosts; allowed: 2 to 256"),
        ("virtual", 257, "unshaped", "257 hosts; allowed: 2 to 256"),
        ("virtual", 3, "10M:cable", "a cable joins 2 hosts, not 3"),
        ("virtual", 2, "10M:ring", "no topology named `ring`; allowed: cable, switch"),
        ("virtual", 2, "fast", "link: `fast` is not a number with a unit"),
        ("virtual", 2, "100G", "100 Gbit/s cannot be shaped; allowed: 1.00 kbit/s to 10.0 Gbit/s"),
        ("virtual", 2, "0", "cannot be shaped"),
        ("loopback", 2, "10M", "loopback has no link `10M`; allowed: unshaped"),
        ("loopback", 2, "unshaped:switch", "loopback has no link"),
        ("loopback", 0, "unshaped", "0 hosts; allowed: 1 to 256"),
    ],
)
def test_what_cannot_be_is_refused(name: str, hosts: int, link: str, message: str) -> None:
    """With what is allowed, before anything is made."""
    with pytest.raises(UsageError, match=re.escape(message)):
        open_testbed(name, hosts, link)
    assert marked_by(os.getpid()) == []


def test_an_unknown_testbed_offers_the_closest() -> None:
    """A typing error is answered with what was meant."""
    with pytest.raises(UnknownName, match="no testbed named `virtuel`") as caught:
        open_testbed("virtuel")
    assert caught.value.hint == "did you mean `virtual`?"


@pytest.mark.skipif(sys.platform != "linux", reason="refused on other systems anyway")
@pytest.mark.parametrize(
    ("missing", "message", "hint"),
    [
        ("ip", "need `ip` from iproute2, not found on PATH", "apt install iproute2"),
        ("tc", "need `tc` from iproute2, not found on PATH", "apt install iproute2"),
        ("nsenter", "need `nsenter` from util-linux, not found on PATH", "apt install util-linux"),
        ("unshare", "need `unshare` from util-linux, not found on PATH", "apt install util-linux"),
    ],
)
def test_a_missing_tool_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, message: str, hint: str
) -> None:
    """A PATH with all tools but one."""
    for name in ("ip", "tc", "bridge", "nsenter", "unshare", "cat", "env"):
        if name != missing:
            (tmp_path / name).symlink_to("/bin/true")
    monkeypatch.setattr("lanlab.testbeds.tools._SYSTEM_FOLDERS", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnmetNeed, match=re.escape(message)) as caught:
        open_testbed("virtual", 2, "unshaped")
    assert caught.value.hint == hint


@pytest.mark.skipif(sys.platform != "linux", reason="refused on other systems anyway")
def test_refused_namespaces_are_a_need_with_the_settings_to_look_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a system that keeps user namespaces from its users."""
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


def test_a_missing_engine_is_told_before_anything_is_made(open_bed: Open) -> None:
    """A shaped link needs it; an unshaped one does not."""
    open_bed("virtual", 2, "unshaped").close()
    with pytest.raises(UnmetNeed, match="no engine here"):
        VirtualTestbed(2, "10M", find_engine=no_engine)
    VirtualTestbed(2, "unshaped", find_engine=no_engine).close()
    assert marked_by(os.getpid()) == []


def test_a_failing_tool_says_why_and_leaves_nothing(
    open_bed: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `ip` wrote is in the message; the hosts made before are gone."""
    open_bed("virtual", 2, "unshaped").close()
    monkeypatch.setattr(
        "lanlab.testbeds.wiring.host_batches",
        lambda hosts, ipv6, shaped: iter(["link set eth9 up\n"] * 2),
    )
    with pytest.raises(RunError, match=r'-batch -` failed \(1\): Cannot find device "eth9"'):
        open_testbed("virtual", 2, "unshaped")
    assert marked_by(os.getpid()) == []


def test_a_failing_engine_says_why_and_leaves_nothing(open_bed: Open, tmp_path: Path) -> None:
    """If offloads cannot be switched off, the link would not be what it says."""
    open_bed("virtual", 2, "unshaped").close()
    broken = tmp_path / "engine"
    broken.write_text("#!/bin/sh\necho offloads: device is busy >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(RunError, match=r"--set off` failed .*: offloads: device is busy"):
        VirtualTestbed(2, "10M", find_engine=lambda: broken)
    assert marked_by(os.getpid()) == []


def test_ctrl_c_while_opening_leaves_nothing(open_bed: Open) -> None:
    """At whatever step it comes."""
    open_bed("virtual", 2, "unshaped").close()
    code = """
import sys
from lanlab.testbeds.registry import testbed
print("go", flush=True)
for _ in range(1000):
    testbed("virtual", 3, "unshaped").close()
"""
    for delay_s in (0.001, 0.005, 0.009, 0.013, 0.017, 0.021):
        child = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        # Not awaiting anything: the point is to hit a step that nobody chose.
        time.sleep(delay_s)
        child.send_signal(signal.SIGINT)
        errors = child.communicate(timeout=60)[1]
        assert "KeyboardInterrupt" in errors
        await_end([each.pid for each in marked_by(child.pid)])
        assert marked_by(child.pid) == []


def test_sixty_four_hosts_reach_each_other(open_bed: Open) -> None:
    """First and last, over a switch."""
    bed = open_bed("virtual", 64, "unshaped")
    assert reaches(bed, 0, 63)
    assert reaches(bed, 63, 31)


def test_an_idle_switch_floods_nothing(open_bed: Open) -> None:
    """What two hosts say to each other does not reach the third."""
    bed = open_bed("virtual", 3, "unshaped")
    before = bed.counters()["host2/eth0"]["rx_packets"]
    for _ in range(3):
        assert reaches(bed, 0, 1)
    # Some reports of IPv6 multicast groups go to everyone after the start.
    assert bed.counters()["host2/eth0"]["rx_packets"] - before <= 6


def test_facts_say_which_rights_it_had(open_bed: Open, as_user: None) -> None:
    """Root's way and everyone's way give hosts of their own."""
    bed = open_bed("virtual", 2, "unshaped")
    assert bed.facts()["privileges"] == "user namespace"
    assert network_of(bed.hosts[0]) != network_of(bed.hosts[1])


def engine_or_none() -> str:
    """Path of the engine, or of nothing."""
    try:
        return engine_path()
    except UnmetNeed:
        return "none"


def test_nobody_can_have_a_virtual_lan() -> None:
    """A process without any right of root's, if root runs the tests."""
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
sys.path.insert(0, {str(Path(__file__).parent)!r})
from lanlab.errors import UnmetNeed
from lanlab.testbeds.virtual import VirtualTestbed
from testbed_peers import marked_by, reaches
engine = sys.argv[1]
link = "10M" if os.access(engine, os.X_OK) else "unshaped"
try:
    with VirtualTestbed(3, link, find_engine=lambda: engine) as bed:
        reached = reaches(bed, 0, 2) and reaches(bed, 1, 0)
        facts, holders = bed.facts(), len(marked_by(os.getpid()))
except UnmetNeed as error:
    print(json.dumps({{"unmet": error.message}}))
else:
    left = len(marked_by(os.getpid()))
    print(json.dumps([reached, facts["privileges"], holders, left]))
"""
    done = subprocess.run(
        [*nobody, code, engine_or_none()], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    if isinstance(said, dict):
        pytest.skip(said["unmet"])
    assert said == [True, "user namespace", 4, 0]
