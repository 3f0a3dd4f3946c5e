"""Pydantic is imported without what would look for its plugins."""

import sys

from programs import ran

_SCRIPT = """
import sys
from lanlab.cli.terminal.memory import watch_imports
watch_imports()
from pydantic import TypeAdapter
from pydantic.plugin import _loader
assert "importlib.metadata" not in sys.modules
assert TypeAdapter(int).validate_python("3") == 3
import importlib.metadata
assert importlib.metadata.version("pydantic")
found = {point.name for point in _loader.entry_points(group="console_scripts")}
assert "lanlab" in found, found
"""


def test_plugin_lookup_works_after_startup() -> None:
    command = [sys.executable, "-c", _SCRIPT]
    done = ran(command)
    assert done.returncode == 0, done.stderr
