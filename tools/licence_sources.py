"""What lanlab is delivered with: crates linked into the engine, packages installed with lanlab."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: What packages mean that state no SPDX expression: by the classifier, or where that says too
#: little ("BSD License") by what their licence text was read to be.
_READ = {
    "colorama": "BSD-3-Clause",
    "contourpy": "BSD-3-Clause",
    "cycler": "BSD-3-Clause",
    "fonttools": "MIT",
    "jinja2": "BSD-3-Clause",
    "kiwisolver": "BSD-3-Clause",
    "markdown-it-py": "MIT",
    "matplotlib": "PSF-2.0",
    "mdurl": "MIT",
    "rich": "MIT",
    "scipy": "BSD-3-Clause",
    "shellingham": "ISC",
    "tzdata": "Apache-2.0",
}


@dataclass(frozen=True)
class Part:
    """A crate or a package."""

    name: str
    version: str
    #: SPDX expression.
    licence: str
    #: Names of the parts that ask for it; of what we ask for ourselves, none.
    wanted_by: tuple[str, ...]
    #: Where its licence texts are; `None` if it is not delivered inside ours.
    folder: Path | None = None
    #: Whether it takes part in compiling only.
    at_compile_time: bool = False


class Unstated(Exception):
    """The licence of a part cannot be told."""


def crates() -> list[Part]:
    """Crates that the engine is made of, on any system, by name; tests' own are not among them."""
    text = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version", "1"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    data = json.loads(text)
    packages = {package["id"]: package for package in data["packages"]}
    wants: dict[str, list[str]] = {
        node["id"]: [
            dependency["pkg"]
            for dependency in node["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
        for node in data["resolve"]["nodes"]
    }
    (engine,) = (key for key, package in packages.items() if package["name"] == "lanlab-engine")
    macros = {
        key
        for key, package in packages.items()
        if any("proc-macro" in target["kind"] for target in package["targets"])
    }
    linked = _reached(engine, wants, beyond=macros) - macros
    found = []
    reached = _reached(engine, wants, beyond=frozenset())
    for key in reached:
        package = packages[key]
        if package["source"] is None:
            continue  # Of this workspace.
        if not package["license"]:
            raise Unstated(f"crate {package['name']} {package['version']} states no licence")
        by = (packages[other] for other in reached if key in wants[other])
        found.append(
            Part(
                name=package["name"],
                version=package["version"],
                licence=package["license"].replace("/", " OR "),
                wanted_by=_others(each["name"] for each in by),
                folder=Path(package["manifest_path"]).parent,
                at_compile_time=key not in linked,
            )
        )
    return sorted(found, key=lambda part: (part.name, part.version))


def _reached(first: str, wants: dict[str, list[str]], beyond: Iterable[str]) -> set[str]:
    """All that is asked for from `first` on; what those in `beyond` ask for is not followed."""
    stops = frozenset(beyond)
    found, waiting = {first}, [first]
    while waiting:
        key = waiting.pop()
        new = [other for other in wants[key] if other not in found] if key not in stops else []
        found.update(new)
        waiting += new
    return found


def _others(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if not name.startswith("lanlab")}))


def _plain(name: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _locked() -> dict[str, list[str]]:
    """Names in the lock to their versions; a package may have one for each range of Pythons."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        match = re.match(r"([A-Za-z0-9._-]+)==([^ ;\\]+)", line)
        if match is not None:
            found.setdefault(_plain(match[1]), []).append(match[2])
    return found


def _wanted(requirements: Iterable[str]) -> list[str]:
    """Names in requirements for all systems; those of extras are left out."""
    found = []
    for requirement in requirements:
        wanted, _, marker = requirement.partition(";")
        match = re.match(r"[A-Za-z0-9._-]+", wanted.strip())
        if match is not None and not re.search(r"\bextra\b", marker):
            found.append(_plain(match[0]))
    return found


def packages() -> list[Part]:
    """Packages that are installed with lanlab, on any system, by name; the engine is not one."""
    locked = _locked()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wants: dict[str, list[str]] = {"lanlab": _wanted(project["dependencies"])}
    waiting = list(wants["lanlab"])
    while waiting:
        name = waiting.pop()
        if name in wants or name not in locked:
            continue  # Known, or of no system that the lock is for.
        try:
            wants[name] = _wanted(importlib.metadata.requires(name) or ())
        except importlib.metadata.PackageNotFoundError:
            wants[name] = []  # For another system than this.
        waiting += wants[name]
    return [
        Part(
            name=name,
            version=", ".join(locked[name]),
            licence=_licence(name),
            wanted_by=_others(other for other, wanted in wants.items() if name in wanted),
        )
        for name in sorted(wants)
        if name != "lanlab"
    ]


def _licence(name: str) -> str:
    """The licence expression of an installed package, or of one that was read."""
    try:
        metadata = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        stated = None
    else:
        # Absent from the metadata of before version 2.4 (PEP 639).
        stated = next(iter(metadata.get_all("License-Expression") or ()), None)
    found = stated or _READ.get(name)
    if found is None:
        raise Unstated(
            f"package {name} states no licence as an SPDX expression: read its licence text, and "
            f"add what it is to tools/licence_sources.py"
        )
    return found
