"""Statically linked engines that are copied to other hosts, one for each architecture."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from pathlib import Path
from typing import Literal

from lanlab.engine.locate import engine_path
from lanlab.errors import UnmetNeed, UsageError
from lanlab.frozen import dataclass
from lanlab.user_files import user_path

#: Aliases of architectures, with the name that Rust and `uname -m` usually use.
_ALIASES = {"amd64": "x86_64", "arm64": "aarch64", "i686": "i386", "i586": "i386"}
#: `e_machine` of an ELF file (System V ABI, chapter 4; registry of its supplements).
_ELF_MACHINES = {
    "i386": 3,
    "ppc64le": 21,
    "s390x": 22,
    "armv6l": 40,
    "armv7l": 40,
    "x86_64": 62,
    "aarch64": 183,
    "riscv64": 243,
}
_TARGETS = {
    "armv6l": "arm-unknown-linux-musleabihf",
    "armv7l": "armv7-unknown-linux-musleabihf",
    "i386": "i686-unknown-linux-musl",
    "ppc64le": "powerpc64le-unknown-linux-musl",
    "riscv64": "riscv64gc-unknown-linux-musl",
}
#: Prefix of the variables with an engine's path, such as `LANLAB_ENGINE_AARCH64`.
ENGINE_VARIABLE = "LANLAB_ENGINE_"
_PROGRAM_INTERPRETER = 3
_MOST_BYTES = 512 * 2**20


@dataclass(frozen=True)
class TravellingEngine:
    path: str
    architecture: str
    content: bytes
    sha256: str
    #: Whether it is statically linked, so that it runs on any Linux of its architecture.
    is_static: bool


def machine_name(name: str) -> str:
    """The name of an architecture in engine names.

    Examples:
        >>> machine_name("arm64")
        'aarch64'
    """
    return _ALIASES.get(name.lower(), name.lower())


def parse_named_engines(texts: list[str]) -> dict[str, str]:
    """
    Read `ARCH=PATH` from each text.

    Raises:
        UsageError: One has another form, or names no file.

    Examples:
        >>> parse_named_engines([])
        {}
    """
    found = {}
    for text in texts:
        architecture, equals, path = text.partition("=")
        if not equals or not architecture or not path:
            raise UsageError(
                f"--engine: found `{text}`; allowed: ARCH=PATH, as in aarch64=./lanlab-engine"
            )
        named = user_path(path)
        if not named.is_file():
            raise UsageError(f"--engine: `{path}` is not a file")
        found[machine_name(architecture)] = str(named.resolve())
    return found


def travelling_engine(architecture: str, host: str) -> TravellingEngine:
    """
    The engine for a host: the one that `LANLAB_ENGINE_` with its architecture names, otherwise this
    machine's own.

    Args:
        architecture: As returned by `machine_name`.
        host: Name of the host in messages.

    Raises:
        UnmetNeed: There is none for that architecture.
        UsageError: The named file is no engine.
    """
    path = os.environ.get(f"{ENGINE_VARIABLE}{architecture.upper()}")
    if path is None:
        own = machine_name(platform.machine())
        if own != architecture:
            target = _TARGETS.get(architecture, f"{architecture}-unknown-linux-musl")
            build = f"cargo build --release -p lanlab-engine --target {target}"
            raise UnmetNeed(
                f"{host}: no engine for {architecture}; this machine has one for {own}",
                hint=f"build one with `{build}`, or take it out of the wheel of lanlab-engine for "
                f"{architecture}; then `--engine {architecture}=PATH`",
            )
        path = engine_path()
    try:
        facts = Path(path).stat()
    except OSError as error:
        raise UsageError(f"engine `{path}` cannot be read: {error.strerror}") from None
    return _read(path, architecture, (facts.st_mtime_ns, facts.st_size))


@functools.lru_cache(maxsize=4)
def _read(path: str, architecture: str, _version: tuple[int, int]) -> TravellingEngine:
    try:
        if Path(path).stat().st_size > _MOST_BYTES:
            raise UsageError(f"engine `{path}` has more than {_MOST_BYTES} bytes")
        content = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"engine `{path}` cannot be read: {error.strerror}") from None
    machine = _elf_machine(content)
    wanted = _ELF_MACHINES.get(architecture)
    if machine is None or (wanted is not None and machine != wanted):
        raise UsageError(
            f"engine `{path}` is not a Linux program for {architecture}",
            hint="`file PATH` shows its type",
        )
    sha256 = hashlib.sha256(content).hexdigest()
    return TravellingEngine(path, architecture, content, sha256, _is_static(content))


def _elf_machine(content: bytes) -> int | None:
    """`e_machine` of an ELF file; `None` for any other file."""
    if len(content) < 64 or content[:4] != b"\x7fELF":
        return None
    return int.from_bytes(content[18:20], _order(content))


def _order(content: bytes) -> Literal["little", "big"]:
    return "little" if content[5] == 1 else "big"


def _is_static(content: bytes) -> bool:
    order, is_64 = _order(content), content[4] == 2
    at, width = (32, 8) if is_64 else (28, 4)
    table = int.from_bytes(content[at : at + width], order)
    sizes = 54 if is_64 else 42
    size = int.from_bytes(content[sizes : sizes + 2], order)
    count = int.from_bytes(content[sizes + 2 : sizes + 4], order)
    return all(
        int.from_bytes(content[table + i * size : table + i * size + 4], order)
        != _PROGRAM_INTERPRETER
        for i in range(count)
    )
