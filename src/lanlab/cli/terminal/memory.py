"""
Checks that there is enough memory before importing a numeric library, and imports pydantic without
its search for plugins.

With too little memory, numeric libraries abort the process (OpenBLAS: `Memory allocation still
failed`), or retry for ever.
"""

from __future__ import annotations

import importlib
import mmap
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_MIB = 2**20
#: Address space that a library needs to be imported and used, rounded up (numpy 2.4, scipy 1.17,
#: matplotlib 3.11 on Linux: 115, 180 and 40 MiB).
_TAKES_MIB: Mapping[str, int] = {"numpy": 128, "scipy": 200, "matplotlib": 64}
_OF_A_RUN = ("numpy", "scipy")


_METADATA = "importlib.metadata"
#: The module of pydantic that imports it. If a version has no such module, only start-up is slower.
_LOADER = "pydantic.plugin._loader"


class _Watch:
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in _TAKES_MIB:
            _ask((name,))
        return _without_metadata(path) if name == _LOADER else None


def watch_imports() -> None:
    """From now on, check for enough memory before large imports, and skip pydantic's plugins."""
    # One thread per library, because computations are small, and each thread reserves 40 MiB.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not any(isinstance(finder, _Watch) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watch())


def check_for_a_run() -> None:
    """
    Raises:
        MemoryError: There is too little memory for the libraries that a run needs after its first
            trial. It is better to fail before it.
    """
    _ask(tuple(name for name in _OF_A_RUN if name not in sys.modules))


def _ask(names: tuple[str, ...]) -> None:
    wanted = sum(_TAKES_MIB[name] for name in names)
    if not wanted:
        return
    try:
        mmap.mmap(-1, wanted * _MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, ValueError):
        raise MemoryError(f"{', '.join(names)} may take {wanted} MiB") from None


def _without_metadata(path: Sequence[str] | None) -> ModuleSpec | None:
    """Have pydantic's loader of plugins import a stand-in for `importlib.metadata`. The real one,
    with parsers of e-mail and archives, takes longer to import than all of lanlab's models.
    """
    spec = None if _METADATA in sys.modules else PathFinder.find_spec(_LOADER, path)
    if spec is None or spec.loader is None:
        return None
    load = spec.loader.exec_module
    stand_in = ModuleType(_METADATA)
    stand_in.entry_points = _entry_points  # type: ignore[attr-defined]

    def exec_module(module: ModuleType) -> None:
        sys.modules[_METADATA] = stand_in
        try:
            load(module)
        finally:
            del sys.modules[_METADATA]

    # Each module has a loader of its own, so this one is used only once.
    spec.loader.exec_module = exec_module  # type: ignore[method-assign]
    return spec


def _entry_points(**wanted: str) -> object:
    return importlib.import_module(_METADATA).entry_points(**wanted)
