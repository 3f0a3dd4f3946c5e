"""Engines whose processes a test may end."""

import os
import signal
from pathlib import Path

from lanlab.engine import engine_path


class NotedEngines:
    def __init__(self, folder: Path) -> None:
        self._pids = folder / "pids"
        self.program = folder / "noted-engine"
        self.program.write_text(
            f'#!/bin/sh\necho $$ >> "{self._pids}"\nexec "{engine_path()}" "$@"\n'
        )
        self.program.chmod(0o755)

    def pids(self) -> list[int]:
        """Of all that were started, in order: host0 and host1 first."""
        # Both start at once, and either may write first; the system gives its ids in turn.
        return sorted(int(line) for line in self._pids.read_text().split())

    def kill(self, index: int) -> None:
        os.kill(self.pids()[index], signal.SIGKILL)
