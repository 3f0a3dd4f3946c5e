"""Joins a Ray cluster, lists its nodes, and leaves it."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import threading
from types import ModuleType

from lanlab.errors import LabError, RunError, UnmetNeed, UsageError
from lanlab.frozen import dataclass

_CONNECT_WITHIN_S = 5.0
#: Time for Ray to join; on an idle machine it takes 1 s.
_JOIN_WITHIN_S = 45.0
_SETTINGS = {
    # Attempts to reach the cluster's control store, 1 s apart; Ray makes 20. Read on import.
    "RAY_NUM_REDIS_GET_RETRIES": "3",
    "RAY_USAGE_STATS_ENABLED": "0",
    # A call after `close` must not start another cluster.
    "RAY_ENABLE_AUTO_CONNECT": "0",
}
_ADDRESS_HINT = "name the address of the head node, as `ray start --head` prints it"
_TOKEN_HINT = (
    "give this process the token of the cluster: RAY_AUTH_MODE=token and RAY_AUTH_TOKEN, or "
    "RAY_AUTH_TOKEN_PATH"
)


@dataclass(frozen=True)
class Node:
    id: str
    address: str


class Cluster:
    """
    A Ray cluster that this process has joined, until `close`.

    Args:
        address: HOST:PORT of its head node.

    Raises:
        LabError: It cannot be joined.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        _check_listening(address)
        for name, value in _SETTINGS.items():
            os.environ.setdefault(name, value)
        try:
            import ray
        except ImportError:
            raise UnmetNeed(
                "testbed `ray` needs the package ray, which is not installed",
                hint="pip install ray, in the version that the cluster has",
            ) from None
        if ray.is_initialized():
            raise UsageError(
                "this process has already joined a Ray cluster",
                hint="close the other testbed, or call `ray.shutdown()`",
            )
        self.ray: ModuleType = ray
        # Ray prints changes of nodes on standard output, where results go.
        ray._private.worker._worker_logs_enabled = False
        self._join()

    def _join(self) -> None:
        """Join on a separate thread: Ray sets signal handlers on the main thread, and joining a
        server that is not a cluster takes minutes, for which lanlab does not wait.
        """
        failed: list[BaseException] = []
        joined, given_up = threading.Event(), threading.Event()

        def join() -> None:
            try:
                self.ray.init(self.address, log_to_driver=False, logging_level="ERROR")
                if given_up.is_set():
                    self.ray.shutdown()
            except BaseException as error:
                # Raised in the thread that waits.
                failed.append(error)
            finally:
                joined.set()

        threading.Thread(target=join, name="joining Ray", daemon=True).start()
        if not joined.wait(_JOIN_WITHIN_S):
            given_up.set()
            raise UsageError(
                f"ray:{self.address}: could not join the Ray cluster within {_JOIN_WITHIN_S:g} s",
                hint=_ADDRESS_HINT,
            )
        if failed:
            raise _refusal(self.address, failed[0]) from failed[0]

    def nodes(self) -> list[Node]:
        """The nodes that are alive and have a processor for Ray, by address."""
        found = [
            Node(one["NodeID"], one["NodeManagerAddress"])
            for one in self.ray.nodes()
            if one["Alive"] and one["Resources"].get("CPU", 0) >= 1
        ]
        return sorted(found, key=_order)

    def has_lost_nodes(self) -> bool:
        """Whether a known node has died; another may take its place."""
        return any(not one["Alive"] for one in self.ray.nodes())

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.ray.shutdown()


def _order(node: Node) -> tuple[object, ...]:
    try:
        address = ipaddress.ip_address(node.address)
    except ValueError:
        return 9, node.address, node.id
    return address.version, int(address), node.id


def _check_listening(address: str) -> None:
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isascii() or not port.isdigit():
        raise UsageError(
            f"testbed ray: found `{address}`; allowed: HOST:PORT of the cluster's head node",
            hint="write e.g. `ray:10.0.0.1:6379`",
        )
    try:
        connected = socket.create_connection((host.strip("[]"), int(port)), _CONNECT_WITHIN_S)
    except (OSError, OverflowError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"ray:{address}: no Ray cluster at this address: {said}", hint=_ADDRESS_HINT
        ) from None
    connected.close()


def _refusal(address: str, error: BaseException) -> LabError:
    said, at = "", error
    while at is not None:
        said += f"{at}\n"
        at = at.__cause__ or at.__context__  # type: ignore[assignment]
    if "uthenticat" in said or "AuthToken" in said:
        return UsageError(
            f"ray:{address}: the cluster refused this process: its token is wrong or missing",
            hint=_TOKEN_HINT,
        )
    if "Version mismatch" in said:
        _, _, versions = said.partition(":")
        return UsageError(
            f"ray:{address}: the cluster has another version: {_in_one_line(versions)}",
            hint="use the same versions of Ray and Python as the cluster",
        )
    lines = [line for line in str(error).splitlines() if line.strip()] or [repr(error)]
    return RunError(
        f"ray:{address}: the cluster refused this process: {_in_one_line(lines[0])}",
        hint="check that `ray status` lists this machine as a node of the cluster",
    )


def _in_one_line(text: str) -> str:
    return " ".join(text.split())[:300]
