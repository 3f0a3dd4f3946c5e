"""A parameter that no code uses would be taken from users, and change nothing."""

import re
from collections.abc import Collection
from pathlib import Path

import lanlab
from lanlab.service_options import OPTIONS
from lanlab.workloads import WORKLOADS
from lanlab.workloads.definitions import definitions

#: What carries trials out: all else only shows what they were.
_PACKAGES = ("workloads", "performers", "run")


def unused(keys: Collection[str], source: str) -> list[str]:
    """Keys that a source neither reads of an object nor names in a text."""
    return [key for key in keys if not re.search(rf"""\.{key}\b|["']{key}["']""", source, re.ASCII)]


def test_every_parameter_of_every_workload_is_used() -> None:
    root = Path(lanlab.__file__).parent
    files = (path for package in _PACKAGES for path in sorted((root / package).rglob("*.py")))
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    keys = {key for kind in WORKLOADS.values() for key in definitions(kind.Parameters)}
    sent = {key for key, row in OPTIONS.items() if row.in_engine}
    assert unused(sorted(keys - sent), source) == []


def test_an_unused_parameter_is_found() -> None:
    source = "used_s: float = parameter(1)\nidle_s: float = parameter(1)\nwait(given.used_s)\n"
    assert unused(["used_s", "idle_s"], source) == ["idle_s"]
