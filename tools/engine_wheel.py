"""
Make a wheel of an engine that is built already, run by `tools/setup.sh`:

    tools/engine_wheel.py ENGINE FOLDER

It is for this machine alone, and needs no maturin: the wheel that is delivered is made by
`tools/wheels.sh`.
"""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path

NAME = "lanlab_engine"


def make_wheel(engine: Path, version: str, folder: Path) -> Path:
    """The path of the wheel, as the format asks (PyPA, binary distribution format)."""
    stem = f"{NAME}-{version}"
    metadata = f"Metadata-Version: 2.1\nName: lanlab-engine\nVersion: {version}\n"
    kind = "Wheel-Version: 1.0\nGenerator: lanlab\nRoot-Is-Purelib: false\nTag: py3-none-any\n"
    program = f"{stem}.data/scripts/lanlab-engine"
    texts = {f"{stem}.dist-info/METADATA": metadata, f"{stem}.dist-info/WHEEL": kind}
    record = f"{stem}.dist-info/RECORD"
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(engine, program)
        for name, text in texts.items():
            archive.writestr(name, text)
        # Digests may be left out.
        archive.writestr(record, "".join(f"{name},,\n" for name in (program, *texts, record)))
    return wheel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", type=Path, metavar="ENGINE")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    manifest = Path(__file__).parents[1] / "Cargo.toml"
    lines = manifest.read_text().partition("[workspace.package]")[2].splitlines()
    version = next(line.split('"')[1] for line in lines if line.startswith("version"))
    asked.folder.mkdir(parents=True, exist_ok=True)
    print(make_wheel(asked.engine, version, asked.folder))


if __name__ == "__main__":
    main()
