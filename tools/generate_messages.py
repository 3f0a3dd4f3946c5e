"""
Make `src/lanlab/engine/messages.py` from the engine's own JSON Schema.

The Rust types are the only definition of what driver and engine say to each other; this keeps the
Python types equal to them. `--check` changes nothing and fails if they differ.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src/lanlab/engine/messages.py"
HEADER = '''"""
What driver and engine say to each other, as Python types.

Made by `make messages` from `lanlab-engine schema`; do not edit.
"""
'''


def generate(engine: str) -> str:
    """The text of the module, from the schema that `engine` prints."""
    schema = subprocess.run([engine, "schema"], check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "schema.json"), Path(folder, "messages.py")
        source.write_text(schema)
        subprocess.run(
            [
                *(sys.executable, "-m", "datamodel_code_generator"),
                *("--input", str(source), "--input-file-type", "jsonschema"),
                *("--output", str(made), "--output-model-type", "typing.TypedDict"),
                *("--class-name", "Messages", "--use-title-as-name", "--collapse-root-models"),
                *("--enum-field-as-literal", "all", "--target-python-version", "3.11"),
                *("--use-schema-description", "--use-field-description"),
                *("--use-standard-collections", "--use-union-operator"),
                *("--disable-timestamp", "--formatters", "builtin"),
            ],
            check=True,
            capture_output=True,
        )
        lines = made.read_text().splitlines(keepends=True)
    # The generator's own header names a file that is not kept.
    return HEADER + "".join(line for line in lines if not line.startswith("#"))


def main() -> int:
    """Write the module, or with `--check` compare it."""
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
    if TARGET.read_text() == text:
        return 0
    print(f"{TARGET}: not what the engine's schema gives; run `make messages`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
