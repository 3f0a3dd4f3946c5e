"""
The files that are made from others: made anew, or all of them compared with what they must be.

    python tools/generated_files.py           # make all anew
    python tools/generated_files.py --check   # name every one that is stale, and fail

Each maker is a program of its own; the next one runs also if one fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

_TOOLS = Path(__file__).parent
#: In an order in which none needs what a later one makes.
MAKERS = ("generate_messages.py", "licences.py", "reference.py")


def main() -> int:
    """Run all makers; 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing")
    checks = ["--check"] if parser.parse_args().check else []
    failed = [
        maker
        for maker in MAKERS
        if subprocess.run([sys.executable, str(_TOOLS / maker), *checks], check=False).returncode
    ]
    if failed:
        what = "stale, or cannot be compared" if checks else "not made"
        print(f"{what}: what these make: {', '.join(failed)}", file=sys.stderr)
        if checks:
            print("hint: `make generated` makes all of them anew", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
