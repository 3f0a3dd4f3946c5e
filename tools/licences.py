"""
List the licences of all that lanlab is delivered with, and hold them against those allowed.

Makes the list in `dist/licences.md`, and what a wheel with the engine has to carry:
`THIRD-PARTY-LICENSES` with the texts that came with each crate, and copies of our own. `--check`
changes nothing and fails if these differ, if nothing says what a crate or package is for, or if a
licence is not on the list in `deny.toml` (which cargo-deny reads as well).
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from licence_sources import ROOT, Part, Unstated, crates, packages
from spdx import used

_LIST = ROOT / "dist/licences.md"
_ENGINE = ROOT / "crates/engine"

#: Of what we ask for ourselves: what for.
_PURPOSE = {
    "async-trait": "traits that embedded servers are written against",
    "base64": "HTTP authentication and S3 checksums",
    "bytes": "buffers that libraries share",
    "cap-std": "files of an embedded server, confined to its folder",
    "chrono": "dates of protocols",
    "crc-fast": "checksums of S3",
    "dav-server": "the embedded WebDAV server",
    "getrandom": "random session tokens and keys",
    "hdrhistogram": "histograms of round trips and operations",
    "hex": "hashes and signatures as text",
    "hmac": "signatures of S3",
    "http-auth": "Digest login of the WebDAV client",
    "http-body-util": "bodies of HTTP",
    "httparse": "heads of answers over HTTP",
    "hyper": "HTTP, server",
    "hyper-util": "HTTP, server",
    "libc": "types and numbers of system calls",
    "md-5": "checksums of S3",
    "percent-encoding": "names in URLs",
    "quick-xml": "answers of WebDAV and S3",
    "rcgen": "certificates of embedded servers",
    "russh": "SSH below SFTP, client and server",
    "rustls": "TLS",
    "rustls-native-certs": "the certificates that the system trusts",
    "schemars": "the schema of the messages",
    "serde": "messages to and from JSON",
    "serde_json": "messages to and from JSON",
    "sha1": "checksums of S3",
    "sha2": "digests of keys, passwords and signed requests",
    "smb-server": "the embedded SMB server",
    "smb2": "the SMB client",
    "smoltcp": "TCP of simulated machines",
    "socket2": "socket options",
    "subtle": "comparing secrets in constant time",
    "thiserror": "error types",
    "tokio": "waiting for many sockets",
    "tokio-rustls": "TLS over tokio's sockets",
    "tracing": "what libraries say of themselves",
    "twox-hash": "checksums of copied files",
    "windows-sys": "types and numbers of Windows",
    "backports-zstd": "series as Parquet files",
    "jinja2": "the report's page",
    "matplotlib": "figures",
    "numpy": "statistics",
    "pydantic": "checks of study files",
    "rich": "widths of letters in the terminal",
    "scipy": "statistics",
    "typer": "the command line",
    "typing-extensions": "types of the messages",
}

_HEAD = """\
# Licences

lanlab itself is under MIT or Apache-2.0, at the choice of whoever uses it. This page lists what it
is delivered with: made by `make licences` from `Cargo.lock`, `requirements.lock` and what crates
and packages say of themselves. What is only used to develop lanlab is not listed.

Allowed, for both languages, is what `deny.toml` lists:
{allowed}.
"""

_CRATES = """
## Crates in the engine

On any system; of those that take part in compiling only, nothing is in the binary. The texts of the
others are in `THIRD-PARTY-LICENSES`, which the wheel of the engine carries.

Built on Linux with the GNU C library, the engine holds that library too, under LGPL 2.1 or later,
so that it runs on hosts that have another one. Those who deliver that binary owe its users what
LGPL 2.1 asks for (section 6): its text, and the means to link the engine with a changed library.
This project's source and `tools/wheels.sh` are those means.

"""

_PACKAGES = """
## Packages installed with lanlab

They are not part of lanlab's wheel: the package index delivers them, each with its licence. Two
versions: one for each range of Python versions. Stated is each package's own licence; wheels of
numpy, scipy, matplotlib and pillow also bring libraries or fonts of others, listed in their licence
files (on Linux those of numpy and scipy the Fortran runtime of GCC, under GPL 3 with the GCC
Runtime Library Exception, and its `libquadmath`, under LGPL 2.1).

"""

_TEXTS_HEAD = """\
The engine of lanlab is under MIT OR Apache-2.0 (LICENSE-MIT, LICENSE-APACHE). Linked into it are
the Rust standard library and the crates below, with the licences and notices that came with each.
Texts that are equal are printed once.

Rust standard library: MIT OR Apache-2.0. Copyright (c) The Rust Project Contributors.
A binary linked statically (musl) holds musl libc: MIT. Copyright (c) 2005-2020 Rich Felker, et al.
A binary linked statically with the GNU C library holds parts of it: LGPL-2.1-or-later. Copyright
(C) 1991-2026 Free Software Foundation, Inc. Its source: https://www.gnu.org/software/libc/; its
licence: https://www.gnu.org/licenses/old-licenses/lgpl-2.1.html. To link the engine with a changed
library, build it from the source of lanlab with `tools/wheels.sh`.
The text of the MIT licence below (after its line of copyright), and that of Apache-2.0, are theirs.
"""

_RULE = "=" * 100


def _rows(parts: Sequence[Part]) -> list[str]:
    rows = ["| name | version | licence | what for |", "|---|---|---|---|"]
    for part in parts:
        if part.wanted_by and part.name not in _PURPOSE:
            purpose = f"for {', '.join(part.wanted_by)}"
        elif part.name in _PURPOSE:
            purpose = _PURPOSE[part.name]
        else:
            raise Unstated(f"`{part.name}` is new here: say in tools/licences.py what it is for")
        compiling = "; compiling only" if part.at_compile_time else ""
        rows.append(f"| {part.name} | {part.version} | {part.licence} | {purpose}{compiling} |")
    return rows


def _is_licence(path: Path) -> bool:
    name = path.name.upper()
    return path.is_file() and name.startswith(("LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLIC"))


def _texts(parts: Sequence[Part], own: Sequence[Path]) -> str:
    """The licence texts of crates that are linked in."""
    blocks: dict[str, list[str]] = {}
    listed = []
    for part in parts:
        if part.at_compile_time:
            continue
        assert part.folder is not None
        listed.append(f"{part.name} {part.version}: {part.licence}")
        files = sorted(path for path in part.folder.iterdir() if _is_licence(path))
        if not files:
            listed[-1] += " (its package has no licence text; see those below)"
        for path in files:
            text = path.read_text(encoding="utf-8").replace("\r\n", "\n").strip("\n")
            blocks.setdefault(text, []).append(f"{part.name} {part.version} {path.name}")
    for path in own:
        # So that these are there whatever the crates bring.
        blocks.setdefault(path.read_text().strip("\n"), []).append(f"lanlab {path.name}")
    sections = [_TEXTS_HEAD + "\n" + "\n".join(listed)]
    sections += ["\n".join(names) + "\n\n" + text for text, names in blocks.items()]
    lines = f"\n\n{_RULE}\n".join(sections).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _check_allowed(parts: Sequence[Part], allowed: Sequence[str]) -> list[str]:
    """What is wrong with the licences, in words."""
    problems, needed = [], set[str]()
    for part in parts:
        found = used(part.licence, allowed)
        if found is None:
            problems.append(
                f"{part.name} {part.version}: licence `{part.licence}`; allowed: "
                f"{', '.join(allowed)} (deny.toml)"
            )
        needed |= found or set()
    problems += [
        f"deny.toml: licence `{name}` is allowed and nothing needs it"
        for name in allowed
        if name not in needed
    ]
    return problems


def main() -> int:
    """Write the files, or with `--check` compare them."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    asked.add_argument("--check", action="store_true", help="change nothing; fail if they differ")
    is_check = asked.parse_args().check
    allowed = tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"]
    own = [ROOT / "LICENSE-MIT", ROOT / "LICENSE-APACHE"]
    try:
        linked, installed = crates(), packages()
        problems = _check_allowed([*linked, *installed], allowed)
        listed = [
            _HEAD.format(allowed=", ".join(allowed)),
            _CRATES + "\n".join(_rows(linked)) + "\n",
            _PACKAGES + "\n".join(_rows(installed)) + "\n",
        ]
    except Unstated as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        return 1
    made = {
        _ENGINE / "THIRD-PARTY-LICENSES": _texts(linked, own),
        **{_ENGINE / path.name: path.read_text() for path in own},
    }
    for path, text in made.items():
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if is_check:
            print(f"{path}: out of date; run `make licences`", file=sys.stderr)
            return 1
        path.write_text(text, encoding="utf-8")
    if not is_check:
        _LIST.parent.mkdir(exist_ok=True)
        _LIST.write_text("".join(listed), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
