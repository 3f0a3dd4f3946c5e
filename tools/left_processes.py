"""
Name the processes that were started below a script and outlived it: id and command of each.

    tools/left_processes.py MARK

MARK is NAME=VALUE, a variable that the script exported at its start.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def left_processes(mark: str) -> list[str]:
    """Processes with this variable, without this one and those that wait for it."""
    own, pid = set(), os.getpid()
    while pid:
        own.add(pid)
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if mark.encode() in variables and int(process.name) not in own:
            found.append(f"{process.name}: {command}")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mark", metavar="MARK")
    left = left_processes(parser.parse_args().mark)
    if left:
        sys.exit("error: processes are left:\n" + "\n".join(left))
