"""
Imports pydantic without its search for plugins.

Although `lanlab.cli.exit_report` disables plugins, pydantic imports `importlib.metadata` for them,
with parsers of e-mail and archives. That takes longer than loading all of lanlab's models.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from types import ModuleType
from typing import Any

_METADATA = "importlib.metadata"
#: The module of pydantic that imports it. If a version has no such module, only start-up is slower.
_LOADER = "pydantic.plugin._loader"


def load_pydantic() -> None:
    """Import pydantic's loader of plugins with a stand-in for `importlib.metadata`."""
    if _METADATA in sys.modules or _LOADER in sys.modules:
        return
    stand_in = ModuleType(_METADATA)
    stand_in.entry_points = _entry_points  # type: ignore[attr-defined]
    sys.modules[_METADATA] = stand_in
    try:
        with contextlib.suppress(ImportError):
            importlib.import_module(_LOADER)
    finally:
        del sys.modules[_METADATA]


def _entry_points(**wanted: Any) -> Any:
    return importlib.import_module(_METADATA).entry_points(**wanted)
