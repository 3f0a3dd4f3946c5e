"""What a row of `counterparts.py` consists of: how to install a server, and how to start it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

USER, PASSWORD = "lab", "Secret-1"
HOST = "127.0.0.1"
PROGRAMS = Path(__file__).parent / "counterpart_programs"
#: A build of a large program from source takes this long on two slow processors.
_INSTALL_WITHIN_S = 1800


class NotToBeHad(Exception):
    """A product that cannot be installed here, and why."""


def run_quietly(argv: Sequence[str], folder: Path, **environment: str) -> str:
    """Run an installer at low priority, and give its output."""
    ran = subprocess.run(
        ["nice", *argv],
        cwd=folder,
        env={**_environment(), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_INSTALL_WITHIN_S,
        check=False,
    )
    if ran.returncode:
        raise NotToBeHad(f"{argv[0]} {argv[1]}: {ran.stdout.strip()[-300:]}")
    return ran.stdout


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}


#: Installs into a folder, which is empty.
Install = Callable[[Path], None]


def pip(*packages: str) -> Install:
    """Install packages of PyPI into a virtual environment of their own."""

    def install(folder: Path) -> None:
        run_quietly([sys.executable, "-m", "venv", "."], folder)
        run_quietly(["bin/pip", "install", "-q", *packages], folder)

    return install


def npm(*packages: str) -> Install:
    """Install packages of npm."""

    def install(folder: Path) -> None:
        run_quietly(["npm", "install", "--silent", "--no-audit", *packages], folder)

    return install


def go(command: str) -> Install:
    """Build one command of a Go module: `path@version`."""

    def install(folder: Path) -> None:
        run_quietly(["go", "install", command], folder, GOBIN=str(folder), GOFLAGS="-mod=mod")

    return install


def go_program(source: str, *modules: str, build: str = ".") -> Install:
    """Build a small program of ours, or a package of a module, with some modules."""

    def install(folder: Path) -> None:
        shutil.copy(PROGRAMS / source, folder / "main.go")
        run_quietly(["go", "mod", "init", "counterpart"], folder)
        run_quietly(["go", "get", *modules], folder)
        run_quietly(["go", "mod", "tidy"], folder)
        run_quietly(["go", "build", "-o", "program", build], folder)

    return install


def maven(*artifacts: str) -> Install:
    """Fetch artifacts (`group:name:version`) and all that they depend on into `jars`."""

    def install(folder: Path) -> None:
        parts = [artifact.split(":") for artifact in artifacts]
        needed = "".join(
            f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
            f"<version>{version}</version></dependency>"
            for group, name, version in parts
        )
        (folder / "pom.xml").write_text(
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
            "<groupId>counterpart</groupId><artifactId>counterpart</artifactId><version>1</version>"
            f"<dependencies>{needed}</dependencies></project>"
        )
        goal = "dependency:copy-dependencies"
        run_quietly(["mvn", "-q", "-B", goal, "-DoutputDirectory=jars"], folder)

    return install


def crate(name: str, version: str, *options: str) -> Install:
    """Build a program of crates.io."""

    def install(folder: Path) -> None:
        argv = ["cargo", "install", "-q", "--locked", "--root", ".", "--version", version]
        run_quietly([*argv, *options, name], folder)

    return install


def debian(*packages: str) -> Install:
    """Unpack packages of Debian, which are not installed."""

    def install(folder: Path) -> None:
        run_quietly(["apt-get", "download", *packages], folder)
        for package in folder.glob("*.deb"):
            run_quietly(["dpkg", "-x", str(package), "."], folder)

    return install


def installed(program: str, package: str) -> Install:
    """Use a program of this system; name its package where it is missing."""

    def install(folder: Path) -> None:
        if shutil.which(program) is None:
            raise NotToBeHad(f"apt install {package}")

    return install


def debian_version(package: str) -> Callable[[Path], str]:
    """The version of an unpacked or installed package of Debian."""

    def version(folder: Path) -> str:
        for found in folder.glob(f"{package}_*.deb"):
            return found.name.split("_")[1].replace("%3a", ":")
        argv = ["dpkg-query", "-W", "-f=${Version}", package]
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout

    return version


@dataclass(frozen=True)
class Place:
    """Where one server runs for one service."""

    service: str
    #: Where the product is installed.
    product: Path
    #: A private folder for configuration and keys.
    private: Path
    #: What is served: an empty directory that anybody may write to.
    root: Path
    port: int

    def write(self, name: str, text: str) -> Path:
        """Write a file of the private folder."""
        path = self.private / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def program(self, name: str) -> str:
        """A program of the product."""
        for folder in ("bin", "sbin", "usr/bin", "usr/sbin", ".", "node_modules/.bin"):
            if (found := self.product / folder / name).is_file():
                return str(found)
        found_here = shutil.which(name)
        if found_here is None:
            raise NotToBeHad(f"{name}: not found")
        return found_here

    def url(self, path: str = "", user: str | None = USER) -> str:
        """A URL of the service."""
        who = "" if user is None else f"{user}@"
        return f"{self.service}://{who}{HOST}:{self.port}/{path}"

    def host_key(self, kind: str = "ed25519") -> Path:
        """A new host key in OpenSSH's form (an RSA key in PEM)."""
        path = self.private / f"host-{kind}"
        form = ["-m", "PEM", "-b", "3072"] if kind == "rsa" else []
        argv = ["ssh-keygen", "-q", "-t", kind, *form, "-N", "", "-f", str(path)]
        subprocess.run(argv, check=True)
        return path

    def certificate(self) -> tuple[Path, Path]:
        """A new certificate and its key, in PEM."""
        certificate, key = self.private / "certificate.pem", self.private / "key.pem"
        argv = f"openssl req -x509 -newkey rsa:2048 -nodes -keyout {key} -out {certificate}"
        argv += f" -days 2 -subj /CN=counterpart -addext subjectAltName=IP:{HOST}"
        subprocess.run(argv.split(), check=True, capture_output=True)
        return certificate, key


@dataclass(frozen=True)
class Launch:
    """A started server: what to execute, and what lanlab is given."""

    argv: Sequence[str]
    url: str
    environment: Mapping[str, str] = field(default_factory=dict)
    #: More arguments of lanlab.
    arguments: Sequence[str] = ()
    #: Executed once the server listens; ends by itself.
    after: Sequence[str] = ()
    password: str = PASSWORD
    #: Where it listens, if not at the port of the place.
    port: int | None = None


@dataclass(frozen=True)
class Row:
    """One product: what lanlab's clients meet."""

    name: str
    version: str | Callable[[Path], str]
    install: Install
    services: Sequence[str]
    launch: Callable[[Place], Launch]
    #: How the product differs from others, in a sentence.
    differs: str = ""
    #: Names at the server that the product itself makes and keeps.
    keeps: Sequence[str] = ()
    #: Where it is installed; rows of one product share it.
    folder: str = ""
    needs_root: bool = False
    #: It can hold names of DOS alone.
    dos_names: bool = False


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])
