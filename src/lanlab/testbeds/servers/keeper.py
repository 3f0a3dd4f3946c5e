"""
Runs one server on a host: starts it with few rights, checks that it listens, ends it completely.

A separate program, run on the host as `python -I keeper.py SETTINGS`; it needs only the standard
library. SETTINGS is a JSON object: `address`, `ports` (how many free ones to find), `uid`, `gid`
(`null`: do not change), `remove` (folders to remove at the end). It speaks JSON lines:

1. it writes `{"ports": […]}`, or `{"error": …}` and ends; 2. it reads `{"argv": […], "port": …,
"within_s": …, "clean_up": […]}` and starts that command; 3. it writes `{"pid": …}` once the port is
listened on, or `{"error": …}`; 4. when its input closes, it ends the server with all its
descendants, runs `clean_up`, and removes the folders.

The input is a pipe from lanlab, which the kernel closes when lanlab ends, for any reason. A process
that the server forks and abandons becomes a child of the keeper (PR_SET_CHILD_SUBREAPER), so none
is missed: servers clear their environment, and change their session and process group.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")
_LISTENING = "0A"
_POLL_S = 0.005
#: Time limits for the server to end in order, and for the kernel to end killed processes.
_END_WITHIN_S = 2.0
_KILL_WITHIN_S = 5.0
_PORTS = range(20_000, 32_000)
_ATTEMPTS = 2_000
_NESTED = "nested"


def main() -> int:
    settings: dict[str, Any] = json.loads(sys.argv[1])
    # Ctrl-C in the terminal is for lanlab. SIGTERM means the same as lanlab's end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    waking, woken = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(woken)
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        if settings["uid"] is not None:
            _become(settings["uid"], settings["gid"])
        _say({"ports": _free_ports(settings["address"], settings["ports"])})
        if program := sys.stdin.buffer.readline():
            _start(json.loads(program))
            _wait(waking, ended)
    except _Refusal as refusal:
        _say({"error": str(refusal)})
        # Wait, as lanlab still reads the logs.
        _wait(waking, ended)
    finally:
        _end_all()
        if _clean_up:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(
                    _clean_up, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False, timeout=5
                )
        for folder in settings["remove"]:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


class _Refusal(Exception):
    pass


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _say(line: dict[str, object]) -> None:
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), json.dumps(line).encode() + b"\n")


def _become(uid: int, gid: int) -> None:
    if os.geteuid() != 0 or sys.argv[2:] == [_NESTED]:
        return
    if _is_mapped("uid", uid) and _is_mapped("gid", gid):
        try:
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)
        except OSError as error:
            raise _Refusal(f"cannot become user {uid}: {error.strerror}") from None
        return
    # In a user namespace without other users, root becomes an ordinary user in a nested one.
    unshare = shutil.which("unshare", path=f"{os.environ.get('PATH', os.defpath)}:/usr/bin:/bin")
    if unshare is None:
        raise _Refusal("need `unshare` from util-linux, not found on PATH")
    user = [f"--map-user={uid}", f"--map-group={gid}"]
    again = [sys.executable, "-I", __file__, sys.argv[1], _NESTED]
    os.execv(unshare, [unshare, "--user", *user, "--", *again])


def _is_mapped(kind: str, number: int) -> bool:
    """Whether the user namespace knows a user or group (user_namespaces(7))."""
    for line in (_PROC / "self" / f"{kind}_map").read_text().splitlines():
        inside, _, count = map(int, line.split())
        if inside <= number < inside + count:
            return True
    return False


def _free_ports(address: str, count: int) -> list[int]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # Python's sockets ignore a zone in the text of an address.
    host, _, zone = address.partition("%")
    found: list[socket.socket] = []
    try:
        for port in random.sample(_PORTS, _ATTEMPTS):
            probe = socket.socket(family)
            try:
                probe.bind((host, port, 0, socket.if_nametoindex(zone)) if zone else (host, port))
            except OSError as error:
                probe.close()
                failed = error
                continue
            found.append(probe)
            if len(found) == count:
                return [each.getsockname()[1] for each in found]
        raise _Refusal(f"no {count} free ports at {address}: {failed.strerror}")
    finally:
        for probe in found:
            probe.close()


def _die_with_us() -> None:
    os.setsid()
    signal.set_wakeup_fd(-1)
    # In case the keeper itself is killed.
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


_server: subprocess.Popen[bytes] | None = None
_clean_up: list[str] = []


def _start(program: dict[str, Any]) -> None:
    global _server
    _clean_up[:] = program["clean_up"]
    try:
        _server = subprocess.Popen(
            program["argv"],
            stdin=subprocess.DEVNULL,
            # lanlab reads the keeper's standard error, and keeps its last part.
            stdout=sys.stderr,
            stderr=sys.stderr,
            cwd="/",
            preexec_fn=_die_with_us,
        )
    except OSError as error:
        raise _Refusal(f"cannot be started: {error.strerror}") from None
    deadline = time.monotonic() + program["within_s"]
    while not _listens(program["port"]):
        code = _server.poll()
        if code is not None:
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            raise _Refusal(f"ended {how} before it listened")
        if time.monotonic() > deadline or _input_has_closed():
            raise _Refusal(f"does not listen on port {program['port']}")
        time.sleep(_POLL_S)
    _say({"pid": _server.pid})


def _input_has_closed() -> bool:
    ready, _, _ = select.select([sys.stdin], [], [], 0)
    return bool(ready)


def _listens(port: int) -> bool:
    """Whether one of the server's processes listens on a port of this host (proc(5))."""
    inodes = set()
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (_PROC / "self/net" / name).read_text().splitlines()[1:]:
                fields = line.split()
                if int(fields[1].rpartition(":")[2], 16) == port and fields[3] == _LISTENING:
                    inodes.add(f"socket:[{fields[9]}]")
    if not inodes:
        return False
    for pid in _descendants():
        try:
            descriptors = list((_PROC / str(pid) / "fd").iterdir())
        except PermissionError:
            # Some servers forbid this check; the port was free just before and is in use now.
            return True
        except OSError:
            continue
        for descriptor in descriptors:
            with contextlib.suppress(OSError):
                if str(descriptor.readlink()) in inodes:
                    return True
    return False


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for process in _PROC.iterdir():
        if process.name.isdecimal():
            with contextlib.suppress(OSError, ValueError):
                # The name in parentheses may hold anything; behind it: state, parent (proc(5)).
                stat = (process / "stat").read_text()
                parent = int(stat[stat.rindex(")") + 1 :].split()[1])
                children.setdefault(parent, []).append(int(process.name))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _reap() -> bool:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        if _server is not None and pid == _server.pid:
            _server.returncode = os.waitstatus_to_exitcode(status)


def _wait(waking: int, ended: list[int]) -> None:
    while not ended:
        ready, _, _ = select.select([sys.stdin, waking], [], [])
        if sys.stdin in ready and not os.read(sys.stdin.fileno(), 4096):
            return
        if waking in ready:
            os.read(waking, 4096)
            _reap()


def _end_all() -> None:
    if _server is not None and _server.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(_server.pid, signal.SIGTERM)
    deadline = time.monotonic() + _END_WITHIN_S
    while _reap():
        now = time.monotonic()
        if now > deadline + _KILL_WITHIN_S:
            return
        # Servers finish serving open connections, which are over now.
        if now > deadline or (_server is not None and _server.returncode is not None):
            for pid in _descendants():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_S)


if __name__ == "__main__":
    sys.exit(main())
