"""
An engine on a node of a Ray cluster, with the interface of a local process.

Every call of the actor ends in bounded time, except reads, which end with the engine or the node.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
from collections.abc import Callable
from typing import IO, Any

from lanlab.errors import EngineLost

#: A call takes 2 ms on an idle network, and some seconds while the actor restarts.
_ANSWER_WITHIN_S = 15.0
#: Bytes per read: Ray puts answers from 100 KiB on into its object store, which takes longer.
_PIECE_BYTES = 64 * 1024
#: Ray comes without types.
Ray = Any


class ActorError(OSError):
    """An actor failed to do something; the text says why."""


class ActorSilent(ActorError):
    """An actor has not answered yet."""


class ActorLost(ActorError):
    """An actor is gone, and its engines with it."""


class RemoteActor:
    """A `NodeActor` on a node, as lanlab calls it."""

    def __init__(self, ray: Ray, handle: Ray, label: str) -> None:
        self._ray, self._handle = ray, handle
        self.label = label

    def call(
        self, method: str, *arguments: Ray, within_s: float | None = _ANSWER_WITHIN_S, **named: Ray
    ) -> Ray:
        """
        The result of a method of the actor.

        Raises:
            ActorSilent: There was no answer within that time.
            ActorLost: The actor is gone.
            ActorError: The method failed.
        """
        errors = self._ray.exceptions
        try:
            answer = getattr(self._handle, method).remote(*arguments, **named)
            return self._ray.get(answer, timeout=within_s)
        except errors.RayTaskError as error:
            cause = error.cause
            raise ActorError(getattr(cause, "strerror", None) or str(cause)) from None
        except errors.GetTimeoutError:
            raise ActorSilent(f"its Ray actor did not answer within {within_s:g} s") from None
        except errors.ActorUnavailableError:
            raise ActorLost("its Ray actor ended and is being restarted") from None
        except (errors.RayError, RuntimeError):
            # A RuntimeError: this process has left the cluster.
            raise ActorLost("its node left the Ray cluster") from None

    def end(self) -> None:
        self._ray.kill(self._handle)


class ActorProcess:
    """An engine that an actor runs, with the interface of `subprocess.Popen`."""

    def __init__(self, actor: RemoteActor, argv: tuple[str, ...]) -> None:
        self._actor, self._argv, self._key = actor, argv, ""
        self.pid = 0
        self.returncode: int | None = None
        self.stdin: IO[bytes] | None = io.BufferedWriter(_Input(self._call))
        self.stdout: IO[bytes] | None = _output(self._call, "stdout")
        self.stderr: IO[bytes] | None = _output(self._call, "stderr")
        #: How the actor was lost; `None` while it exists.
        self.why_lost: str | None = None

    def begin(self) -> ActorProcess:
        """
        Start the engine.

        Raises:
            EngineLost: It cannot be started.
        """
        try:
            self._key, self.pid = self._actor.call("start", *self._argv)
        except ActorError as error:
            said = f"{self._actor.label}: cannot start the engine: {error}"
            raise EngineLost(said) from error
        return self

    def _call(self, method: str, *arguments: Ray, within_s: float | None = _ANSWER_WITHIN_S) -> Ray:
        try:
            return self._actor.call(method, self._key, *arguments, within_s=within_s)
        except ActorLost as error:
            self.why_lost = self.why_lost or str(error)
            raise

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait until the engine has ended; returns its exit code, or `None` if its actor is gone.

        Raises:
            subprocess.TimeoutExpired: It is still running.
        """
        within_s = _ANSWER_WITHIN_S if timeout is None else timeout
        if self.returncode is None and self.why_lost is None:
            try:
                self.returncode = self._call("wait", within_s=within_s)
            except ActorSilent:
                raise subprocess.TimeoutExpired("engine", within_s) from None
            except ActorError:
                return None
        return self.returncode

    def kill(self) -> None:
        # An engine ends when the actor that holds its input ends.
        with contextlib.suppress(ActorError):
            self._call("kill")


class _Input(io.RawIOBase):
    def __init__(self, call: Callable[..., Ray]) -> None:
        self._call = call

    def writable(self) -> bool:
        return True

    def write(self, content: Ray) -> int:
        octets = bytes(content)
        # Wait for each, because calls of an actor may overtake each other.
        self._call("write", octets)
        return len(octets)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._call("close_input")


class _Output(io.RawIOBase):
    def __init__(self, call: Callable[..., Ray], name: str) -> None:
        self._call, self._name = call, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Ray) -> int:
        try:
            octets = self._call("read", self._name, len(buffer), within_s=None)
        except ActorError:
            return 0
        buffer[: len(octets)] = octets
        return len(octets)


def _output(call: Callable[..., Ray], name: str) -> IO[bytes]:
    return io.BufferedReader(_Output(call, name), _PIECE_BYTES)
