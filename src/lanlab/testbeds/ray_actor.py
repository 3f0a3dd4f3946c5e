"""
An actor on a node of a Ray cluster that runs an engine and passes its input and output on.

Ray sends this module to the node by value, so that lanlab need not be installed there; so it uses
only the standard library. An engine ends when its input closes, and its input closes with the
actor's process.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import platform
import secrets
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

_WATCH_S = 1.0
_START_WITHIN_S = 20.0
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class NodeActor:
    """The engines of one node. The caller of `start` chooses a key to name each."""

    def __init__(self) -> None:
        self._engines: dict[str, asyncio.subprocess.Process] = {}
        self._watch: asyncio.Task[None] | None = None

    async def facts(self) -> dict[str, str]:
        self._watch = self._watch or asyncio.create_task(_end_with_parent())
        return {
            "system": platform.system(),
            "architecture": platform.machine(),
            "kernel": platform.release(),
        }

    async def find_engine(self, sha256: str) -> str | None:
        """Path of the engine with that hash; `None` if none starts."""
        for folder in _folders():
            path = folder / f"engine-{sha256}"
            with contextlib.suppress(OSError):
                _check_held(folder)
                _check_own(path, stat.S_ISREG)
                if hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
                    _check_starts(path)
                    return str(path)
        return None

    async def keep_engine(self, sha256: str, content: bytes) -> str:
        """
        Write an engine to the first directory that has space and allows programs to start.

        Raises:
            OSError: No directory is suitable; with the reason for each.
        """
        reasons = []
        for folder in _folders():
            part = folder / f".part-{secrets.token_hex(8)}"
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                _check_held(folder)
                with part.open("xb") as file:
                    file.write(content)
                part.chmod(0o700)
                _check_starts(part)
                path = folder / f"engine-{sha256}"
                part.replace(path)
            except OSError as error:
                with contextlib.suppress(OSError):
                    part.unlink()
                reasons.append(f"{folder}: {error.strerror or error}")
            else:
                return str(path)
        raise OSError("; ".join(reasons))

    async def remove_engine(self, path: str, *, even_from_cache: bool) -> None:
        """Remove an engine; from the user's cache directory only on request."""
        if even_from_cache or Path(path).parent != _folders()[0]:
            with contextlib.suppress(OSError):
                Path(path).unlink()
                Path(path).parent.rmdir()

    async def start(self, *argv: str) -> tuple[str, int]:
        running = {key: one for key, one in self._engines.items() if one.returncode is None}
        pipe = subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, stderr=pipe)
        key = secrets.token_hex(8)
        self._engines = {**running, key: process}
        return key, process.pid

    async def write(self, key: str, content: bytes) -> None:
        pipe = self._engines[key].stdin
        assert pipe is not None
        pipe.write(content)
        await pipe.drain()

    async def close_input(self, key: str) -> None:
        pipe = self._engines[key].stdin
        assert pipe is not None
        pipe.close()

    async def read(self, key: str, name: str, most_bytes: int) -> bytes:
        """The next output of an engine on `stdout` or `stderr`; empty at the end."""
        pipe: asyncio.StreamReader = getattr(self._engines[key], name)
        return await pipe.read(most_bytes)

    async def wait(self, key: str) -> int:
        """Wait until an engine has ended; its exit code, or a signal's number below zero."""
        return await self._engines[key].wait()

    async def kill(self, key: str) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._engines[key].kill()


async def _end_with_parent() -> None:
    """End when the node's raylet, the parent process, has ended. Ray itself waits for calls of an
    actor to end first, and a pending read ends only with its engine.
    """
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(_WATCH_S)
    os._exit(1)


def _folders() -> list[Path]:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    session = os.environ.get("XDG_RUNTIME_DIR") or "/tmp"
    own = f"lanlab-engine-{os.getuid()}"
    others = (Path(base, own) for base in (session, "/tmp", "/var/tmp", "/dev/shm"))
    return [Path(cache, "lanlab"), *dict.fromkeys(others)]


def _check_own(path: Path, is_kind: Callable[[int], bool]) -> None:
    facts = path.lstat()
    is_own = is_kind(facts.st_mode) and facts.st_uid == os.getuid()
    if not is_own or facts.st_mode & _OTHERS_WRITE:
        raise OSError("other users own it or can change it")


def _check_held(folder: Path) -> None:
    _check_own(folder, stat.S_ISDIR)
    trusted = (0, os.getuid(), Path("/").stat().st_uid)
    for above in (folder.parent.resolve() / folder.name).parents:
        facts = above.lstat()
        # In directories that others can write to, remove only the user's own files.
        is_safe = not facts.st_mode & _OTHERS_WRITE or facts.st_mode & stat.S_ISVTX
        if not is_safe or facts.st_uid not in trusted:
            raise OSError("other users own it or can change it")


def _check_starts(path: Path) -> None:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, timeout=_START_WITHIN_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"the engine did not start within {_START_WITHIN_S:g} s") from None
    if done.returncode != 0:
        raise OSError(f"the engine does not start: exit code {done.returncode}")
