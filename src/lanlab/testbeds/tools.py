"""Finds the system's network tools, and runs them so that a failure gives its reason."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence

from lanlab.errors import RunError, UnmetNeed
from lanlab.frozen import dataclass

PACKAGES = {
    "bridge": "iproute2",
    "ip": "iproute2",
    "tc": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "getent": "libc-bin",
    "mount": "mount",
    "openssl": "openssl",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "cat": "coreutils",
    "env": "coreutils",
}
#: Folders that often contain them without being on an ordinary user's PATH.
_SYSTEM_FOLDERS = ("/usr/sbin", "/sbin", "/usr/local/sbin")
#: Setting up takes milliseconds; a tool that takes this long hangs.
_TIME_LIMIT_S = 20.0
#: More in parallel would only wait for the kernel's single lock on network settings.
_AT_ONCE = 8


def find_tool(name: str) -> str | None:
    """Path of a tool, or `None`."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_SYSTEM_FOLDERS))
    return shutil.which(name, path=path)


def tool(name: str) -> str:
    """Path of a tool.

    Raises:
        UnmetNeed: It is not installed.
    """
    path = find_tool(name)
    if path is None:
        package = PACKAGES[name]
        raise UnmetNeed(
            f"need `{name}` from {package}, not found on PATH", hint=f"apt install {package}"
        )
    return path


@dataclass(frozen=True)
class Command:
    argv: Sequence[str]
    text: str = ""


def run_each(commands: Iterable[Command]) -> list[str]:
    """Run commands, several at once, and return the standard output of each, in order.

    Raises:
        RunError: One failed; with its standard error. All have ended then.
    """
    waiting = list(commands)
    results: list[str] = []
    for start in range(0, len(waiting), _AT_ONCE):
        group = waiting[start : start + _AT_ONCE]
        with contextlib.ExitStack() as stack:
            results += map(_finish, group, [_started(one, stack) for one in group])
    return results


def _started(command: Command, stack: contextlib.ExitStack) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        command.argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Ctrl-C in the terminal is for lanlab, which then shuts down in order.
        start_new_session=True,
    )
    stack.enter_context(process)
    # Called before it is waited for; no effect after its end.
    stack.callback(process.kill)
    return process


def _finish(command: Command, process: subprocess.Popen[str]) -> str:
    shown = " ".join(command.argv)
    try:
        out, err = process.communicate(command.text, timeout=_TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise RunError(f"`{shown}` has not ended after {_TIME_LIMIT_S:g} s") from None
    if process.returncode:
        said = "; ".join(line.strip() for line in (err or out).splitlines() if line.strip())
        raise RunError(f"`{shown}` failed ({process.returncode}): {said or 'it did not say why'}")
    return out
