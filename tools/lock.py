"""
Make `requirements.lock` anew: exact versions, with hashes, of all that `make setup` installs.

Run by `make lock`. It asks the package index through `uv`, which it installs into a scratch
environment; the result holds for every system and every Python that lanlab supports.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "requirements.lock"
UV = "uv==0.13.8"
HEADER = """\
# Exact versions, with hashes, of all that `make setup` installs beside lanlab itself.
# Made by `make lock` (tools/lock.py) from pyproject.toml and crates/engine/pyproject.toml; do not
# edit.
"""


def requirements() -> tuple[list[str], str]:
    """What both distributions need to be built, run and developed; and the oldest Python."""
    wanted = []
    for file in (ROOT / "pyproject.toml", ROOT / "crates/engine/pyproject.toml"):
        data = tomllib.loads(file.read_text())
        project = data["project"]
        wanted += data["build-system"]["requires"]
        wanted += project.get("dependencies", [])
        for extra in project.get("optional-dependencies", {}).values():
            wanted += extra
    oldest = data["project"]["requires-python"].removeprefix(">=")
    # Our own distributions come from this tree, not from an index.
    return [line for line in wanted if not line.startswith("lanlab")], oldest


def main() -> int:
    """Write the lock."""
    wanted, oldest = requirements()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        scripts = Path(folder, "Scripts" if sys.platform == "win32" else "bin")
        subprocess.run([scripts / "python", "-m", "pip", "install", "--quiet", UV], check=True)
        resolved = subprocess.run(
            [
                *(scripts / "uv", "pip", "compile", "-"),
                *("--universal", "--python-version", oldest),
                *("--generate-hashes", "--no-header", "--no-annotate", "--quiet"),
            ],
            input="\n".join(wanted),
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    TARGET.write_text(HEADER + resolved)
    return 0


if __name__ == "__main__":
    sys.exit(main())
