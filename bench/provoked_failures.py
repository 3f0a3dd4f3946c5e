"""
Provoke the failures of `provoked_failures.txt`, and compare what lanlab prints with their causes.

    sudo .venv/bin/python bench/provoked_failures.py               # 8 minutes
    sudo .venv/bin/python bench/provoked_failures.py --only ftp    # cases that match `ftp`
    sudo .venv/bin/python bench/provoked_failures.py --keep        # writes the page of the results

Each case is a command of lanlab that must fail, a pattern that its errors must match (the cause
that was provoked), and a pattern that its hints must match; without that, it must print no hint.
All runs in a network, mount and process namespace that ends with the script. Servers are those of
`counterparts.py` that this system has installed, and sockets that misbehave.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from counterpart_base import PASSWORD, NotToBeHad, free_port
from counterparts import LANLAB, ROWS
from provoked_servers import (
    PRODUCTS,
    SERVERS,
    WITHIN_S,
    Server,
    behaviours,
    listens,
    make_files,
    s3,
    server,
)

HERE = Path(__file__).parent
CASES = HERE / "provoked_failures.txt"
#: They name every option.
_HELP = ("docs/*.md", "tests/cli/__snapshots__/test_help_texts.ambr")
PAGE = HERE / "results/provoked-failures.md"
MARK = "<!-- printed by provoked_failures.py -->\n"
#: Most of them wait for a server that is silent.
_AT_ONCE = 8
_NETWORK = """ip link set lo up
ip link add void type veth peer name pit
ip link set pit up
ip link set void up
ip address add 10.9.9.1/24 dev void
ip neighbour add 10.9.9.9 lladdr 02:00:00:00:00:09 dev void
"""


def _lanlab(
    arguments: list[str], environment: Mapping[str, str], folder: Path, user: str = ""
) -> subprocess.CompletedProcess[str]:
    prefix = ["setpriv", "--reuid", user, "--regid", "nogroup", "--clear-groups"] if user else []
    return subprocess.run(
        [*prefix, str(LANLAB), *arguments],
        env={**os.environ, "HOME": str(folder / f"home{user}"), **environment},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A case, and what lanlab printed."""

    case: str
    exit_code: int
    text: str
    faults: tuple[str, ...]

    def section(self) -> str:
        """What it printed, with its faults."""
        lines = ["```text", f"exit {self.exit_code}", *self.text.splitlines()[:12], "```"]
        return "\n".join([f"{', '.join(self.faults) or 'right'}: `{self.case}`", "", *lines])


def _provoke(number: int, line: str, names: Mapping[str, object], folder: Path) -> Outcome:
    command, cause, hint = (*(part.strip() for part in line.split(" -> ")), "")[:3]
    words = shlex.split(command.format_map(names))
    environment = {"LANLAB_STORE": str(folder / f"stores/{number}.sqlite")}
    environment["LANLAB_PASSWORD"] = PASSWORD
    user = ""
    while "=" in words[0] or words[0] == "nobody":
        key, _, value = words.pop(0).partition("=")
        if key == "study":
            old, new = value.split("~")
            text = (folder / "small.toml").read_text()
            if old not in text:
                raise ValueError(f"the small study has no `{old}`: {line}")
            (study := folder / f"study{number}.toml").write_text(text.replace(old, new, 1))
            words = [str(study) if word == "STUDY" else word for word in words]
        elif key == "nobody":
            user = key
        else:
            environment[key] = value
    if "--password-file" in words or not environment["LANLAB_PASSWORD"]:
        del environment["LANLAB_PASSWORD"]
    began = time.monotonic()
    try:
        ran = _lanlab(words, environment, folder, user)
    except subprocess.TimeoutExpired:
        return Outcome(line, -1, "", (f"not ended after {WITHIN_S} s",))
    lines = (ran.stderr + ran.stdout).replace(str(folder), "DIR").splitlines()
    hints = "\n".join(one for one in lines if one.strip().startswith("hint:"))
    errors = "\n".join(one for one in lines if not one.strip().startswith("hint:"))
    checks = {
        "exit 0": ran.returncode == 0,
        "traceback": "Traceback" in ran.stderr or "panicked" in ran.stderr,
        "without its cause": re.search(cause, errors) is None,
        "hint without its cause": bool(hints) and (not hint or not re.search(hint, hints)),
        "no hint": bool(hint) and not hints,
        "hint cannot be followed": not _followed(hints),
    }
    faults = tuple(name for name, wrong in checks.items() if wrong)
    done = Outcome(line, ran.returncode, "\n".join(lines), faults)
    print(
        f"{number}, {time.monotonic() - began:.0f} s: {done.section()}", file=sys.stderr, flush=True
    )
    return done


def _followed(hints: str) -> bool:
    """Whether the options of lanlab that hints name exist."""
    pages = "".join(one.read_text() for name in _HELP for one in HERE.parent.glob(name))
    known = set(re.findall(r"--[a-z][a-z-]+", pages))
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", hints)) <= known


def _printed(outcomes: Sequence[Outcome]) -> str:
    """A page with a sum of the faults and what each case printed."""
    counts = Counter(fault for one in outcomes for fault in one.faults)
    page = [f"{len(outcomes)} failures provoked; {dict(counts) or 'all right'}"]
    for one in outcomes:
        page += ["", one.section()]
    return "\n".join(page) + "\n"


def _all(folder: Path, wanted: str) -> list[Outcome]:
    cases = [one for one in CASES.read_text().splitlines() if " -> " in one and one[0] != "#"]
    subprocess.run(["sh", "-ec", _NETWORK], check=True)
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    argv = ["stream", "--testbed", "loopback", "--messages", "10", "--warmup", "0"]
    _lanlab(argv, {"LANLAB_STORE": str(folder / "first/store.sqlite")}, folder)
    make_files(folder, (folder / "first/store.sqlite").read_bytes())
    with contextlib.ExitStack() as stack:
        names: dict[str, object] = {}
        servers: dict[str, Server] = {}
        for name in SERVERS:
            try:
                servers[name] = stack.enter_context(server(name, folder))
            except (NotToBeHad, OSError, subprocess.SubprocessError) as error:
                print(f"{name}: not started: {error}", file=sys.stderr)
        servers["s3"] = stack.enter_context(s3(folder))
        for name, behave in behaviours(servers).items():
            servers[name] = listens(behave)
        names |= servers
        names |= {"d": folder, "closed": free_port()}
        held = stack.enter_context(contextlib.closing(sqlite3.connect(folder / "held.sqlite")))
        held.execute("BEGIN IMMEDIATE")
        absent = re.compile("|".join(f"{{{one}[.}}]" for one in {*SERVERS} - {*servers}) or "$^")
        numbered = [(n, one) for n, one in enumerate(cases, 1) if re.search(wanted, one)]
        numbered = [(n, one) for n, one in numbered if not absent.search(one)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(lambda one: _provoke(*one, names, folder), numbered))


def main() -> int:
    """Provoke what is wanted; exit 1 if an error or a hint is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--only", default="", help="cases that this pattern matches")
    parser.add_argument("--keep", action="store_true", help=f"write {PAGE.name}")
    given = parser.parse_args()
    # Servers end also when this is ended from outside.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if PRODUCTS not in os.environ:
        with tempfile.TemporaryDirectory(prefix="provoked-products-") as products:
            os.environ[PRODUCTS] = products
            next(row for row in ROWS if row.name == "pyftpdlib").install(Path(products))
            alone = ["unshare", "-n", "-m", "-p", "-f", "--kill-child", "--mount-proc"]
            return subprocess.run([*alone, sys.executable, *sys.argv], check=False).returncode
    with tempfile.TemporaryDirectory(prefix="provoked-") as temporary:
        Path(temporary).chmod(0o755)
        outcomes = _all(Path(temporary), given.only)
    page = _printed(outcomes)
    print(page)
    if given.keep:
        PAGE.write_text(f"{PAGE.read_text().split(MARK)[0]}{MARK}{page}")
    return 1 if any(one.faults for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
