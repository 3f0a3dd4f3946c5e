"""
A testbed's requirements, whether this machine meets them, and how to install the rest.

Each is tried, not guessed from versions: in a network namespace that lasts for a single command.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lanlab.engine.locate import engine_path
from lanlab.errors import LabError, of_name
from lanlab.frozen import dataclass
from lanlab.pipes import run_briefly
from lanlab.testbeds.loopback import has_ipv6
from lanlab.testbeds.medium import TUN_DEVICE, usable_interfaces
from lanlab.testbeds.shaping import SWITCH_QUEUE_BYTES, shaping_batch
from lanlab.testbeds.tools import PACKAGES, find_tool

_TIME_LIMIT_S = 10.0
_SYSCTL = Path("/proc/sys")
_USER_NAMESPACE_SETTINGS = (
    "kernel.unprivileged_userns_clone",
    "user.max_user_namespaces",
    "kernel.apparmor_restrict_unprivileged_userns",
)


@dataclass(frozen=True)
class Need:
    name: str
    found: bool
    detail: str
    #: What to do if the requirement is missing; empty if nothing can be done.
    how_to_get: str = ""
    #: Whether the testbed is unusable without the requirement; otherwise only some studies are.
    required: bool = True


def _sysctl(name: str) -> str | None:
    try:
        return " ".join((_SYSCTL / name.replace(".", "/")).read_text().split())
    except OSError:
        return None


def _try(argv: Sequence[str], text: str = "") -> tuple[bool, str]:
    try:
        done = run_briefly(argv, _TIME_LIMIT_S, text)
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    said = (done.stdout if done.returncode == 0 else done.stderr or done.stdout).strip()
    return done.returncode == 0, said


def _tools() -> list[Need]:
    needs = []
    for name in ("ip", "tc", "bridge", "unshare", "nsenter"):
        path, package = find_tool(name), PACKAGES[name]
        needs.append(Need(name, path is not None, path or "not found", f"apt install {package}"))
    return needs


def _namespace_command() -> tuple[list[str] | None, Need]:
    """Command prefix that runs a command in a new network namespace."""
    name = "network namespaces"
    unshare = find_tool("unshare")
    if unshare is None:
        return None, Need(name, False, "need `unshare`", "apt install util-linux")
    said = ""
    for rights, flags in (("root", []), ("user namespace", ["--user", "--map-root-user"])):
        if rights == "root" and os.geteuid() != 0:
            continue
        before = [unshare, *flags, "--net", "--"]
        works, said = _try([*before, "true"])
        if works:
            return before, Need(name, True, f"by {rights}")
    settings = ", ".join(f"{k}={v}" for k in _USER_NAMESPACE_SETTINGS if (v := _sysctl(k)))
    how = (
        "allow user namespaces, e.g. `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, "
        "or run as root"
    )
    return None, Need(name, False, f"{said}; {settings}" if settings else said, how)


def _in_namespace(
    before: list[str] | None, name: str, script: str, how: str, required: bool = True
) -> Need:
    if before is None:
        return Need(name, False, "not tried: needs network namespaces", required=required)
    tools = [f"{key.upper()}={find_tool(key) or key}" for key in ("ip", "tc", "bridge")]
    works, said = _try([find_tool("env") or "env", *tools, *before, "sh", "-c", script])
    return Need(name, works, "works" if works else said, how, required)


def _engine() -> Need:
    try:
        path = engine_path()
    except LabError as error:
        return Need("lanlab-engine", False, error.message, error.hint or "")
    works, said = _try([path, "--version"])
    return Need("lanlab-engine", works, f"{said}, {path}" if works else said)


def _offloads(before: list[str] | None) -> Need:
    name, how = "switching offloads off", "build or install the engine: `make setup`"
    try:
        engine = engine_path()
    except LabError as error:
        return Need(name, False, error.message, error.hint or how, required=False)
    script = (
        "$IP link add eth0 type veth peer name eth1 && "
        f"{shlex.quote(engine)} offloads --device eth0 --set off >/dev/null"
    )
    return _in_namespace(before, name, script, how, required=False)


def _medium(before: list[str] | None) -> Need:
    name = "medium (up to 100 Mbit/s)"
    if usable_interfaces() == "tap":
        works, how = "$IP tuntap add mode tap name eth0", "as `100M+tbf` a link does without"
        need = _in_namespace(before, name, works, how, required=False)
        return dataclasses.replace(need, detail=f"by {TUN_DEVICE}") if need.found else need
    opens = "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"
    script = (
        "$IP link add eth0 type veth peer name eth1 && "
        f"{shlex.quote(sys.executable)} -c {shlex.quote(opens)}"
    )
    need = _in_namespace(before, name, script, how := "as `100M+tbf` a link does without", False)
    if need.found:
        by = f"by packet sockets, as {TUN_DEVICE} cannot be opened"
        return dataclasses.replace(need, detail=by)
    if f"[Errno {errno.EAFNOSUPPORT}]" in need.detail:
        how = f"modprobe af_packet, or a kernel with CONFIG_PACKET; {how}"
    # The last line of a traceback has the reason.
    return dataclasses.replace(need, detail=need.detail.rpartition("\n")[2], how_to_get=how)


def _ipv6() -> Need:
    found = has_ipv6()
    how = "sysctl -w net.ipv6.conf.all.disable_ipv6=0; studies of IPv4 alone do without"
    return Need("IPv6", found, "::1 answers" if found else "::1 cannot be bound", how, False)


def _congestion_controls() -> Need:
    allowed = _sysctl("net.ipv4.tcp_allowed_congestion_control")
    available = _sysctl("net.ipv4.tcp_available_congestion_control")
    detail = f"available: {available or 'unknown'}; allowed without root: {allowed or 'unknown'}"
    return Need("TCP congestion control", available is not None, detail, required=False)


def _buffers() -> Need:
    names = ("net.core.rmem_max", "net.core.wmem_max")
    values = {name: value for name in names if (value := _sysctl(name))}
    detail = ", ".join(f"{name}={value}" for name, value in values.items()) or "unknown"
    return Need("socket buffer limits", bool(values), detail, required=False)


def _virtual_needs() -> list[Need]:
    before, namespaces = _namespace_command()
    shape = shaping_batch(["lo"], 10_000_000, SWITCH_QUEUE_BYTES).strip()
    return [
        _engine(),
        *_tools(),
        namespaces,
        _in_namespace(
            before,
            "cable (veth)",
            "$IP link add eth0 type veth peer name eth1",
            "modprobe veth, or a kernel with CONFIG_VETH",
        ),
        _in_namespace(
            before,
            "switch (bridge)",
            "$IP link add br0 type bridge",
            "modprobe bridge, or a kernel with CONFIG_BRIDGE; two hosts do without",
            required=False,
        ),
        _in_namespace(
            before,
            "shaping (tbf, stab)",
            f"$TC {shape}",
            "modprobe sch_tbf, or a kernel with CONFIG_NET_SCH_TBF; `--link unshaped` does without",
            required=False,
        ),
        _medium(before),
        _offloads(before),
        _ipv6(),
        _congestion_controls(),
        _buffers(),
    ]


def _ssh_needs() -> list[Need]:
    path = find_tool("ssh")
    found = "not found" if path is None else path
    if path is not None:
        # This program prints its version on standard error.
        done = run_briefly([path, "-V"], _TIME_LIMIT_S)
        found = f"{done.stderr.strip()}, {path}"
    return [_engine(), Need("ssh", path is not None, found, f"apt install {PACKAGES['ssh']}")]


_NEEDS: Mapping[str, Callable[[], list[Need]]] = {
    "loopback": lambda: [_engine(), _ipv6(), _congestion_controls(), _buffers()],
    "virtual": _virtual_needs,
    "simulated": lambda: [_engine()],
    "ssh": _ssh_needs,
}
KINDS = tuple(_NEEDS)


def needs(name: str) -> list[Need]:
    """The requirements of the testbed of that name, each tried now.

    Raises:
        UnknownName: The testbed is unknown.
    """
    return of_name("testbed", name, _NEEDS)()
