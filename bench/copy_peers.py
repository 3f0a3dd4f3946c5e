"""How each client copies a directory to a server, or from it, for `copy_clients.py`."""

from __future__ import annotations

import filecmp
import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from copy_servers import Embedded, Server

from lanlab.engine.process import Engine
from lanlab.errors import RunError
from lanlab.performers import EngineHost, perform_between
from lanlab.testbeds.base import Host
from lanlab.workloads import CounterChanges, workload
from lanlab.workloads.copy import datasets
from lanlab.workloads.services.server_url import remember_password

_WITHIN_S = 300.0
#: What lanlab takes first, in the words of OpenSSH: rates over SSH are compared under one cipher.
_LIKE_LANLAB = ("Ciphers=aes128-gcm@openssh.com", "KexAlgorithms=curve25519-sha256")
_LEAD_S = 0.05


@dataclass
class Copying:
    """One trial: a dataset, a server, and which way."""

    client: Host
    #: At the client.
    engine: Engine
    server: Server
    #: The directory that the server serves.
    root: Path
    #: The dataset's files.
    source: Path
    direction: str
    #: Folder for what the client receives and needs.
    scratch: Path
    #: What lanlab agreed on with the server, as its record has it.
    agreed: str | None = None
    #: Directory of the trial, at the server and at the client.
    name: str = field(default_factory=lambda: f"trial-{secrets.token_hex(6)}")

    @property
    def address(self) -> str:
        """Of the server."""
        return self.server.host.addresses["ipv4"]

    @property
    def is_upload(self) -> bool:
        """Whether to the server."""
        return self.direction == "upload"

    @property
    def names(self) -> list[str]:
        """Of the files, in order."""
        return sorted(path.name for path in self.source.iterdir())

    @property
    def octets(self) -> int:
        """Of all files."""
        return sum(path.stat().st_size for path in self.source.iterdir())

    @property
    def files(self) -> int:
        """How many there are."""
        return len(self.names)

    @property
    def local(self) -> Path:
        """Where the client reads or writes."""
        return self.source if self.is_upload else self.scratch / self.name

    @property
    def secret(self) -> str:
        """Of the user."""
        assert self.server.credentials is not None
        return self.server.credentials.secret

    @property
    def user(self) -> str | None:
        """Who logs in; NFS has nobody."""
        return self.server.credentials.user if self.server.credentials is not None else None

    @property
    def has_key(self) -> bool:
        """Whether the secret is a private key, as of OpenSSH's server; else it is a password."""
        return self.secret.startswith("-----BEGIN")

    @property
    def key(self) -> Path:
        """The private key as a file, for clients of SFTP."""
        path = self.scratch / "key"
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(self.secret)
        return path

    def prepare(self) -> Path:
        """Make the directories; of a download, put the files there. Where they shall arrive."""
        there = self.root / self.name
        owner = self.root.stat()
        there.mkdir()
        if not self.is_upload:
            (self.scratch / self.name).mkdir()
            for name in self.names:
                shutil.copyfile(self.source / name, there / name)
                if os.geteuid() == 0:
                    os.chown(there / name, owner.st_uid, owner.st_gid)
        if os.geteuid() == 0:
            os.chown(there, owner.st_uid, owner.st_gid)
        return there if self.is_upload else self.scratch / self.name

    def empty(self) -> None:
        """Remove what the trial wrote."""
        shutil.rmtree(self.root / self.name, ignore_errors=True)
        shutil.rmtree(self.scratch / self.name, ignore_errors=True)


def dataset_files(engine: Engine, name: str, directory: Path) -> None:
    """Make a dataset."""
    spec = datasets.spec(name, 1, 0.0)
    engine.ask({"type": "dataset", "spec": spec, "place": {"directory": str(directory)}}, _WITHIN_S)
    for path in directory.rglob("*"):
        if path.is_dir():
            raise RunError(f"`{path}`: clients copy files of one directory here")


def same_content(source: Path, arrived: Path) -> bool:
    """Whether the same files are in two directories, octet for octet."""
    names = sorted(path.name for path in source.iterdir())
    if names != sorted(path.name for path in arrived.iterdir()):
        return False
    return all(filecmp.cmp(source / name, arrived / name, shallow=False) for name in names)


def _url(copying: Copying) -> str:
    server, address = copying.server, copying.address
    if server.service == "nfs":
        # The portmapper tells the ports of a real one. What is mounted is what is exported.
        port = f":{server.port}" if isinstance(server, Embedded) else ""
        return f"nfs://{address}{port}{server.share}"
    share = f"/{server.share}" if server.share and server.service in ("smb", "smb1", "s3") else ""
    return f"{server.service}://{copying.user}@{address}:{server.port}{share}/{copying.name}"


def lanlab_copy(copying: Copying, streams: int) -> float:
    """
    How long lanlab takes, seconds: from the first connection to the last close.

    Raises:
        LabError: It failed, or what arrived is not what was sent.
    """
    server = copying.server
    url = _url(copying)
    if copying.user is not None:
        remember_password(url, copying.secret)
    kind = workload("copy")
    parameters = kind.Parameters.model_validate(
        {
            "server": url,
            "direction": copying.direction,
            "dataset": f"dir:{copying.source}",
            "client_directory": None if copying.is_upload else str(copying.scratch / copying.name),
            # What is sent lies there already.
            **({} if copying.is_upload else {"medium": "tmpfs"}),
            "parallel_files": streams,
            "verify": "content",
            "retries": 0,
            "trust": None if server.trust_sha256 is None else f"sha256:{server.trust_sha256}",
        }
    )
    host = EngineHost(copying.engine, copying.address, None)
    # It puts the files of a download there itself.
    for name in () if copying.is_upload else copying.names:
        (copying.root / copying.name / name).unlink()
    exchange = perform_between(kind, parameters, host, host, _LEAD_S)
    if exchange.error is not None:
        raise exchange.error
    metrics = kind.summarise(parameters, exchange, CounterChanges())
    result = exchange.results["client"]
    facts = result["facts"]
    copying.agreed = f"{facts['protocol']}, {facts['protection']}"
    connected_s: float = max(result["connect_ns"]) / 1e9
    return metrics["elapsed_s"] + connected_s


def _settled() -> dict[str, str]:
    """The environment without what S3 clients would heed: this machine's own accounts."""
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}


class Peer:
    """A client: what it is, and its commands."""

    program: str
    #: What is done otherwise than it does by itself.
    manner: str = ""
    services: tuple[str, ...]
    #: How many files at once it is tried with.
    streams: tuple[int, ...] = (1,)
    version_arguments: Sequence[str] = ("--version",)

    @property
    def name(self) -> str:
        """As in the tables."""
        return f"{self.program} ({self.manner})" if self.manner else self.program

    def path(self) -> str | None:
        """Where it is, if it is here."""
        return shutil.which(self.program)

    def version(self) -> str:
        """What it tells of itself."""
        path = self.path()
        if path is None:
            return "missing"
        done = subprocess.run(
            [path, *self.version_arguments], capture_output=True, text=True, check=False, timeout=10
        )
        lines = (done.stdout + done.stderr).splitlines()
        return next((line.strip() for line in lines if re.search(r"\d\.\d", line)), "unknown")

    def command(self, copying: Copying, streams: int) -> tuple[list[str], str, dict[str, str]]:
        """What to run, its input, and what it has in its environment."""
        raise NotImplementedError

    def copy(self, copying: Copying, streams: int) -> float:
        """
        How long its process takes, seconds.

        Raises:
            RunError: It failed.
        """
        argv, text, environment = self.command(copying, streams)
        home = copying.scratch / "home"
        home.mkdir(exist_ok=True)
        began = time.monotonic()
        try:
            done = subprocess.run(
                [*copying.client.command_prefix, *argv],
                input=text,
                capture_output=True,
                text=True,
                check=False,
                cwd=copying.local,
                timeout=_WITHIN_S,
                env={**_settled(), "HOME": str(home), "LC_ALL": "C.UTF-8", **environment},
            )
        except subprocess.TimeoutExpired:
            raise RunError(f"`{self.program}` has not ended after {_WITHIN_S:g} s") from None
        elapsed_s = time.monotonic() - began
        if done.returncode:
            said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
            why = said[-1].strip() if said else f"exit code {done.returncode}"
            raise RunError(f"`{self.program}` failed: {why}")
        return elapsed_s


class Curl(Peer):
    """One process, one connection: a list of files on its standard input."""

    program = "curl"
    services = ("ftp", "webdav")

    def command(self, copying: Copying, streams: int) -> tuple[list[str], str, dict[str, str]]:
        """See `Peer.command`."""
        scheme = {"ftp": "ftp", "webdav": "http"}[copying.server.service]
        base = f"{scheme}://{copying.address}:{copying.server.port}/{copying.name}"
        lines = [f'user = "{copying.user}:{copying.secret}"']
        for name in copying.names:
            action = "upload-file" if copying.is_upload else "output"
            lines += [f'url = "{base}/{name}"', f'{action} = "{name}"']
        return [self.program, "-sS", "--fail", "-K", "-"], "\n".join(lines), {}


class Lftp(Peer):
    """`mirror`, one file after another."""

    program = "lftp"
    services = ("ftp",)

    def command(self, copying: Copying, streams: int) -> tuple[list[str], str, dict[str, str]]:
        """See `Peer.command`."""
        reverse = "-R" if copying.is_upload else ""
        ends = (".", copying.name) if copying.is_upload else (copying.name, ".")
        server = f"ftp://{copying.address}:{copying.server.port}"
        commands = [
            "set net:max-retries 1; set cmd:fail-exit yes; set ftp:ssl-allow no",
            f"open -u {copying.user},{copying.secret} {server}",
            f"mirror --no-perms --parallel={streams} {reverse} {ends[0]} {ends[1]}",
        ]
        return [self.program, "--norc", "-c", "; ".join(commands)], "", {}


class Sftp(Peer):
    """OpenSSH's `sftp` with a batch, under the cipher and the key exchange that lanlab takes."""

    program = "sftp"
    manner = "aes128-gcm"
    services = ("sftp",)
    ssh_options: tuple[str, ...] = _LIKE_LANLAB

    def version(self) -> str:
        """See `Peer.version`: `ssh` tells it."""
        done = subprocess.run(["ssh", "-V"], capture_output=True, text=True, check=False)
        return (done.stderr or done.stdout).strip()

    def command(self, copying: Copying, streams: int) -> tuple[list[str], str, dict[str, str]]:
        """See `Peer.command`."""
        options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"]
        options += self.ssh_options
        environment: dict[str, str] = {}
        if copying.has_key:
            options += [f"IdentityFile={copying.key}"]
        else:
            # A batch would have it ask for no password, unless that was said before.
            options += ["BatchMode=no", "PreferredAuthentications=password"]
            environment = self._asked_for(copying)
        argv = [self.program, "-q", "-F", "/dev/null"]
        argv += [word for option in options for word in ("-o", option)]
        argv += ["-b", "-", "-P", str(copying.server.port), f"{copying.user}@{copying.address}"]
        batch = f"cd {copying.name}\n{'put' if copying.is_upload else 'get'} *\n"
        return argv, batch, environment

    def _asked_for(self, copying: Copying) -> dict[str, str]:
        """How it comes to a password: ssh(1) asks a program."""
        program = copying.scratch / "password"
        if not program.exists():
            program.touch(mode=0o700)
            program.write_text('#!/bin/sh\nprintf "%s\\n" "$LANLAB_BENCH_SECRET"\n')
        return {
            "SSH_ASKPASS": str(program),
            "SSH_ASKPASS_REQUIRE": "force",
            "LANLAB_BENCH_SECRET": copying.secret,
        }


class SftpAsItComes(Sftp):
    """The same under the cipher that it chooses itself: chacha20-poly1305 first."""

    manner = "its own cipher"
    ssh_options = ()


class SmbClient(Peer):
    """`smbclient` with `mput` or `mget`."""

    program = "smbclient"
    services = ("smb", "smb1")

    def command(self, copying: Copying, streams: int) -> tuple[list[str], str, dict[str, str]]:
        """See `Peer.command`."""
        server = copying.server
        argv = [self.program, f"//{copying.address}/{server.share}", "-p", str(server.port)]
        commands = f"cd {copying.name}; prompt off; {'mput' if copying.is_upload else 'mget'} *"
        login = ["-U", f"{copying.user}%{copying.secret}"]
        if copying.server.service == "smb1":
            login += ["-m", "NT1", "--option=client min protocol=NT1"]
        return [*argv, *login, "-s", "/dev/null", "-c", commands], "", {}


class NfsCp(Peer):
    """`nfs-cp` of libnfs: a process and a mount for each file."""

    program = "nfs-cp"
    services = ("nfs",)

    def version(self) -> str:
        """See `Peer.version`: the package tells it, not the program."""
        if self.path() is None:
            return "missing"
        asked = ["dpkg-query", "--show", "libnfs-utils"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        return done.stdout.strip() or "unknown"

    def command(self, copying: Copying, streams: int) -> tuple[list[str], str, dict[str, str]]:
        """See `Peer.command`."""
        share = (copying.server.share or "").strip("/")
        url = f"nfs://{copying.address}/{share}/{copying.name}"
        ends = '"$name" "$0/$name"' if copying.is_upload else '"$0/$name" "$name"'
        loop = f"while read -r name; do nfs-cp {ends} || exit 1; done"
        return ["sh", "-c", loop, url], "".join(f"{name}\n" for name in copying.names), {}


PEERS: tuple[Peer, ...] = (Curl(), Lftp(), Sftp(), SftpAsItComes(), SmbClient(), NfsCp())
