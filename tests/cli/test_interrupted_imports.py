"""Ctrl-C in the middle of an import is heeded once that is done: what is imported may go on without
what it failed to import, for whatever reason."""

import sys
from pathlib import Path

import pytest
from programs import ran

#: As libraries do with modules that they can do without.
SWALLOWS = """
try:
    import inner
except BaseException as error:
    print(type(error).__name__)
"""
INNER = """
import os, signal, time
for _ in range({presses}):
    os.kill(os.getpid(), signal.SIGINT)
    until = time.monotonic() + 0.2
    while time.monotonic() < until:
        pass
print("imported")
"""
SCRIPT = """
import sys, time
from lanlab.cli.running import interrupts
interrupts._ONE_PRESS_S = 0.1
one = interrupts.Interrupts("at once")
one.install()
one.work()
try:
    import swallows
    until = time.monotonic() + 5
    while time.monotonic() < until and sys.argv[1] == "1":
        pass
    print("went on")
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    ("presses", "said"),
    [(1, ["imported", "interrupted"]), (2, ["KeyboardInterrupt", "went on"])],
)
def test_an_interrupt_during_an_import_waits_for_its_end(
    tmp_path: Path, presses: int, said: list[str]
) -> None:
    (tmp_path / "swallows.py").write_text(SWALLOWS)
    (tmp_path / "inner.py").write_text(INNER.format(presses=presses))
    done = ran([sys.executable, "-c", SCRIPT, str(presses)], cwd=tmp_path, check=True)
    assert done.stdout.splitlines() == said
