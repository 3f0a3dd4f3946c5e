"""Pydantic is imported without what would look for its plugins."""

import subprocess
import sys

_SCRIPT = """
import sys
from lanlab.cli.memory import load_pydantic
load_pydantic()
assert "importlib.metadata" not in sys.modules
from pydantic import TypeAdapter
from pydantic.plugin import _loader
assert TypeAdapter(int).validate_python("3") == 3
import importlib.metadata
assert importlib.metadata.version("pydantic")
found = {point.name for point in _loader.entry_points(group="console_scripts")}
assert "lanlab" in found, found
load_pydantic()
"""


def test_plugin_lookup_works_after_startup() -> None:
    command = [sys.executable, "-c", _SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
