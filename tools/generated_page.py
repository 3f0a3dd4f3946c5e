"""What tools that generate a page have in common: they write it, or check that it is current."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path


def write_or_check(target: Path, page: Callable[[], str], make: str, about: str | None) -> None:
    """
    Write a page; with `--check` on the command line, fail if it is not current.

    Args:
        target: Its file.
        page: Makes its text.
        make: What of the Makefile writes it.
        about: What `--help` says.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--check", action="store_true", help="fail if the page is not current")
    if not parser.parse_args().check:
        target.write_text(page())
    elif not target.exists() or target.read_text() != page():
        raise SystemExit(f"{target.name} is not current; run `make {make}`")
