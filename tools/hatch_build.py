"""Build hook of lanlab's wheel: makes the manual page and installs it where `man` finds it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManualPage(BuildHookInterface[Any]):
    """Adds `share/man/man1/lanlab.1`; without lanlab's dependencies the wheel has no page."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the page of these sources."""
        root = Path(self.root)
        # An isolated build has hatchling alone.
        if self.target_name != "wheel" or importlib.util.find_spec("typer") is None:
            return
        page = root / "dist" / "lanlab.1"
        page.parent.mkdir(exist_ok=True)
        subprocess.run(
            [sys.executable, str(root / "tools" / "manual.py"), str(page)],
            check=True,
            env=os.environ | {"PYTHONPATH": str(root / "src")},
        )
        build_data["shared_data"][str(page)] = "share/man/man1/lanlab.1"
