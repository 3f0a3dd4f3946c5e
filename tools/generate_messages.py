"""
Make `src/lanlab/engine/schema.json` from the engine's own JSON Schema.

The Rust types are the only definition of what lanlab and engine say to each other. By this file
lanlab checks what an engine says. `--check` changes nothing and fails if the two differ.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src/lanlab/engine/schema.json"


def generate(engine: str) -> str:
    """The text of the file: a line for each definition, so that a change shows where it is."""
    printed = subprocess.run([engine, "schema"], check=True, capture_output=True, text=True).stdout
    schema = without_prose(json.loads(printed))
    definitions = schema.pop("$defs")
    lines = [f"{json.dumps(name)}: {json.dumps(definitions[name])}" for name in sorted(definitions)]
    return f'{json.dumps(schema)[:-1]}, "$defs": {{\n' + ",\n".join(lines) + "\n}}\n"


def without_prose(schema: Any) -> Any:
    """A schema without what no check needs; the texts stand in the Rust source."""
    if isinstance(schema, dict):
        # A property of such a name is no text, but a schema.
        return {
            key: without_prose(value)
            for key, value in schema.items()
            if key not in ("title", "description") or not isinstance(value, str)
        }
    return [without_prose(each) for each in schema] if isinstance(schema, list) else schema


def main() -> int:
    """Write the file, or with `--check` compare it."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    asked.add_argument("--check", action="store_true", help="change nothing; fail if they differ")
    is_check = asked.parse_args().check
    # Not found by lanlab itself: what is wrong with its messages may keep it from being imported.
    engine = shutil.which("lanlab-engine", path=sysconfig.get_path("scripts"))
    if engine is None:
        print("error: no lanlab-engine beside this Python; run `make setup`", file=sys.stderr)
        return 2
    text = generate(engine)
    if not is_check:
        TARGET.write_text(text)
        return 0
    if TARGET.exists() and TARGET.read_text() == text:
        return 0
    print(f"{TARGET}: not what the engine's schema gives; run `make messages`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
