"""Every program of bench and tools starts: Python ones print help, shell ones can be parsed."""

import re
import sys
from pathlib import Path

import pytest
from programs import ran

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted([*ROOT.glob("bench/*.py"), *ROOT.glob("tools/*.py"), *ROOT.glob("tools/*.sh")])
pytestmark = pytest.mark.long


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_starts_and_names_its_options(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    is_shell = script.suffix == ".sh"
    done = ran(["bash", "-n", script] if is_shell else [sys.executable, script, "--help"])
    assert (done.returncode, done.stderr) == (0, "")
    # A module without this only defines what others use.
    is_program = '__name__ == "__main__"' in text
    assert done.stdout.startswith("usage: ") == is_program
    options = re.findall(r'\.add_argument\(\s*"(--?[\w-]+)"', text) if is_program else []
    assert [option for option in options if option not in done.stdout] == []
