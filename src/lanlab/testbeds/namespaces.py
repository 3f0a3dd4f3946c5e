"""
Hosts as Linux network namespaces that cannot outlive lanlab.

A namespace has no name; it exists as long as a process is in it. Its holder is a `cat` whose
standard input is a pipe from lanlab: when lanlab ends, for any reason, the kernel closes the
pipe, `cat` ends, and the kernel frees the namespace with every interface in it.

Root creates network namespaces directly. Other users need a user namespace, if the system allows
it: the first holder creates it, and the others enter it first.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from typing import Literal

from lanlab.errors import RunError, UnmetNeed
from lanlab.testbeds import process_leftovers
from lanlab.testbeds.tools import tool

Privileges = Literal["root", "user namespace"]

_HANDSHAKE = b"lanlab\n"
_HANDSHAKE_WITHIN_S = 10.0
_END_WITHIN_S = 2.0
_POLL_S = 0.002


class Namespace:
    def __init__(self, holder: subprocess.Popen[bytes], command_prefix: tuple[str, ...]) -> None:
        self.holder = holder
        self.command_prefix = command_prefix

    @property
    def pid(self) -> int:
        return self.holder.pid


class Namespaces:
    """Network namespaces of one testbed; empty until `add`, and again after `close`."""

    def __init__(self) -> None:
        self.mark = process_leftovers.new_mark()
        self.privileges: Privileges = "root" if os.geteuid() == 0 else "user namespace"
        self._all: list[Namespace] = []
        self._environment = {**os.environ, process_leftovers.MARK: self.mark}
        self._tools = {name: tool(name) for name in ("cat", "env", "nsenter", "unshare")}

    def add(self, count: int) -> list[Namespace]:
        """Make namespaces.

        Raises:
            UnmetNeed: The system refuses, with its message and a hint.
        """
        first = [] if self._all else [self._add_first()]
        # Start all, then wait for each, so that they come up in parallel.
        others = [self._start(self._command_of_another()) for _ in range(count - len(first))]
        for namespace in others:
            self._await(namespace)
        return [*first, *others]

    def _add_first(self) -> Namespace:
        try:
            return self._await(self._start(self._command_of_first()))
        except UnmetNeed:
            # Root without the right to create namespaces, as in a container, may still do what
            # every user may.
            if self.privileges != "root":
                raise
            self.privileges = "user namespace"
            return self._await(self._start(self._command_of_first()))

    def _command_of_first(self) -> list[str]:
        user = [] if self.privileges == "root" else ["--user", "--map-root-user"]
        return [self._tools["unshare"], *user, "--net", "--", self._tools["cat"]]

    def _command_of_another(self) -> list[str]:
        unshare = [self._tools["unshare"], "--net", "--", self._tools["cat"]]
        return unshare if self.privileges == "root" else [*self._enter(self._all[0].pid), *unshare]

    def _enter(self, pid: int) -> tuple[str, ...]:
        user = () if self.privileges == "root" else ("--user", "--preserve-credentials")
        return (self._tools["nsenter"], *user, "--net", "--target", str(pid), "--")

    def _start(self, argv: list[str]) -> Namespace:
        holder = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=self._environment,
            # Ctrl-C in the terminal is for lanlab, which then shuts down in order.
            start_new_session=True,
        )
        # `env` passes the mark to everything started on the host.
        marked = (self._tools["env"], f"{process_leftovers.MARK}={self.mark}")
        namespace = Namespace(holder, (*marked, *self._enter(holder.pid)))
        self._all.append(namespace)
        return namespace

    def _await(self, namespace: Namespace) -> Namespace:
        holder = namespace.holder
        assert holder.stdin is not None and holder.stdout is not None
        try:
            holder.stdin.write(_HANDSHAKE)
        except BrokenPipeError:
            self._fail(namespace)
        ready, _, _ = select.select([holder.stdout], [], [], _HANDSHAKE_WITHIN_S)
        if not ready or holder.stdout.read(len(_HANDSHAKE)) != _HANDSHAKE:
            self._fail(namespace)
        return namespace

    def _fail(self, namespace: Namespace) -> None:
        holder = namespace.holder
        self._all.remove(namespace)
        holder.kill()
        said = holder.communicate()[1].decode(errors="replace").strip()
        raise UnmetNeed(
            f"this user may not create network namespaces: {said or 'no answer'}",
            hint="allow user namespaces (kernel.unprivileged_userns_clone=1, "
            "user.max_user_namespaces above 0, kernel.apparmor_restrict_unprivileged_userns=0), "
            "or run as root, or use --testbed loopback",
        )

    def close(self) -> None:
        """End every process of the testbed, and with them the namespaces. Idempotent.

        Raises:
            RunError: A process is stuck in the kernel.
        """
        holders, self._all = [each.holder for each in self._all], []
        if not holders:
            return
        for holder in holders:
            for pipe in (holder.stdin, holder.stdout, holder.stderr):
                if pipe is not None:
                    pipe.close()
        deadline = time.monotonic() + _END_WITHIN_S
        for holder in holders:
            try:
                holder.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                holder.kill()
                holder.wait()
        # Processes on the hosts whose parents did not end them.
        while process_leftovers.marked_with(self.mark) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        if stuck := process_leftovers.end_marked(self.mark):
            pids = ", ".join(str(each.pid) for each in stuck)
            raise RunError(
                f"cannot end processes of the virtual testbed: {pids}",
                hint="the kernel keeps them alive; the next virtual testbed tries again",
            )
