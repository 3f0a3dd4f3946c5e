"""
Make `requirements.lock` anew: exact versions, with hashes, of all that `make setup` installs;
`requirements-dev.lock`, the same of the extra `dev`, for tests and checks; and
`requirements-ray.lock`, of the extra `ray`, which is large and which only CI installs.

Run by `make lock`. It asks the package index through `uv`, which it installs into a scratch
environment; the result holds for every system and every Python that lanlab supports.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "requirements.lock"
#: Extras that `make setup` does not install.
APART = ("dev", "ray")
UV = "uv==0.13.8"
HEADER = """\
# Exact versions, with hashes, of all that `make setup` installs beside lanlab itself.
# Made by `make lock` (tools/lock.py) from pyproject.toml and crates/engine/pyproject.toml; do not
# edit.
"""
HEADER_APART = """\
# Exact versions, with hashes, of the extra `{}` and of all that it needs, beside
# requirements.lock. Made by `make lock` (tools/lock.py) from pyproject.toml; do not edit.
"""


def requirements() -> tuple[list[str], dict[str, list[str]], str]:
    """What both distributions need to be run, and `lanlab` to be installed from here; what each
    extra apart needs; and the oldest Python."""
    wanted: list[str] = []
    apart: dict[str, list[str]] = {}
    for file in (ROOT / "pyproject.toml", ROOT / "crates/engine/pyproject.toml"):
        data = tomllib.loads(file.read_text())
        project = data["project"]
        # `make setup` needs no maturin for the engine; `make wheels` has it from the extra `dev`.
        if file.parent == ROOT:
            wanted += data["build-system"]["requires"]
        wanted += project.get("dependencies", [])
        for name, extra in project.get("optional-dependencies", {}).items():
            (apart.setdefault(name, []) if name in APART else wanted).extend(extra)
    oldest = data["project"]["requires-python"].removeprefix(">=")
    # Our own distributions come from this tree, not from an index.
    return [line for line in wanted if not line.startswith("lanlab")], apart, oldest


def main() -> int:
    """Write the locks."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    wanted, apart, oldest = requirements()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        scripts = Path(folder, "Scripts" if sys.platform == "win32" else "bin")
        subprocess.run([scripts / "python", "-m", "pip", "install", "--quiet", UV], check=True)

        def resolve(lines: list[str], *options: str | Path) -> str:
            return subprocess.run(
                [
                    *(scripts / "uv", "pip", "compile", "-"),
                    *("--universal", "--python-version", oldest),
                    *("--generate-hashes", "--no-header", "--no-annotate", "--quiet", *options),
                ],
                input="\n".join(lines),
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            ).stdout

        TARGET.write_text(HEADER + resolve(wanted))
        # What several have is of one version.
        for name, lines in apart.items():
            locked = resolve(lines, "--constraint", TARGET)
            (ROOT / f"requirements-{name}.lock").write_text(HEADER_APART.format(name) + locked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
