"""Pydantic is imported without what would look for its plugins."""

import subprocess
import sys

_SCRIPT = """
import sys
from lanlab.cli.memory import watch_imports
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
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
