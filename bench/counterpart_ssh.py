"""Servers of SFTP for `counterparts.py`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from counterpart_base import (
    HOST,
    PASSWORD,
    PROGRAMS,
    USER,
    Launch,
    Place,
    Row,
    debian,
    debian_version,
    go_program,
    installed,
    maven,
    npm,
    pip,
)


def trust(key: Path) -> list[str]:
    """Trust the host key whose public half lies beside it."""
    argv = ["ssh-keygen", "-lf", f"{key}.pub"]
    line = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    return ["--trust", line.split()[1]]


def _python(program: str) -> Callable[[Place], Launch]:
    def launch(place: Place) -> Launch:
        key = place.host_key()
        argv = [place.program("python"), str(PROGRAMS / program), str(place.port)]
        given = [str(place.root), USER, PASSWORD, str(key)]
        return Launch([*argv, *given], place.url(), arguments=trust(key))

    return launch


def _ssh2(place: Place) -> Launch:
    key = place.host_key()
    given = [str(place.port), str(place.root), USER, PASSWORD, str(key)]
    environment = {"NODE_PATH": str(place.product / "node_modules")}
    argv = ["node", str(PROGRAMS / "ssh2_server.js"), *given]
    return Launch(argv, place.url(), environment, trust(key))


def _mina(place: Place) -> Launch:
    key = place.host_key()
    argv = ["java", "-cp", f"{place.product}/jars/*", str(PROGRAMS / "MinaSshd.java")]
    given = [str(place.port), str(place.root), USER, PASSWORD, str(key)]
    return Launch([*argv, *given], place.url(), arguments=trust(key))


def _go_sftp(place: Place) -> Launch:
    key = place.host_key()
    given = [f"{HOST}:{place.port}", str(place.root), USER, PASSWORD, str(key)]
    return Launch([place.program("program"), *given], place.url(), arguments=trust(key))


def _user_key(place: Place) -> tuple[str, str]:
    """The user of this process, and the password file of lanlab with its new key."""
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place.private / "id")], check=True
    )
    return os.environ.get("USER") or "root", str(place.private / "id")


def _openssh(kind: str) -> Callable[[Place], Launch]:
    def launch(place: Place) -> Launch:
        key = place.host_key(kind)
        if os.geteuid() == 0:  # as its service does
            Path("/run/sshd").mkdir(exist_ok=True)
        user, identity = _user_key(place)
        text = f"""ListenAddress {HOST}:{place.port}
HostKey {key}
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
AuthorizedKeysFile {identity}.pub
Subsystem sftp internal-sftp
"""
        argv = [place.program("sshd"), "-D", "-e", "-f", str(place.write("sshd_config", text))]
        url = place.url(f"/{str(place.root).lstrip('/')}", user)
        return Launch(argv, url, arguments=[*trust(key), "--password-file", identity])

    return launch


def _dropbear(place: Place) -> Launch:
    user, identity = _user_key(place)
    home = place.private / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    (home / ".ssh/authorized_keys").write_text(Path(f"{identity}.pub").read_text())
    key = place.private / "host-dropbear"
    make = [place.program("dropbearkey"), "-t", "ed25519", "-f", str(key)]
    shown = subprocess.run(make, check=True, capture_output=True, text=True).stdout
    public = next(line for line in shown.splitlines() if line.startswith("ssh-"))
    Path(f"{key}.pub").write_text(public)
    # It takes the user's keys from the home directory that the system names: one is put over it.
    passwd = place.write("passwd", f"{user}:x:0:0::{home}:/bin/sh\n")
    inner = f"mount --bind {passwd} /etc/passwd && exec {place.program('dropbear')}"
    inner += f" -F -E -r {key} -p {HOST}:{place.port} -P {place.private}/pid"
    argv = ["unshare", "-m", "sh", "-c", f"chmod 644 {passwd}; chmod 711 {place.private}; {inner}"]
    url = place.url(f"/{str(place.root).lstrip('/')}", user)
    return Launch(
        argv,
        url,
        {"LD_LIBRARY_PATH": str(place.product / "usr/lib/x86_64-linux-gnu")},
        [*trust(key), "--password-file", identity],
    )


_OPENSSH = installed("sshd", "openssh-server")
_ONE = ("sftp",)

ROWS = (
    Row("AsyncSSH", "2.24.1", pip("asyncssh==2.24.1"), _ONE, _python("asyncssh_server.py")),
    Row("Paramiko", "5.1.0", pip("paramiko==5.1.0"), _ONE, _python("paramiko_server.py")),
    Row("ssh2 (Node.js)", "1.17.0", npm("ssh2@1.17.0"), _ONE, _ssh2),
    Row(
        "Apache MINA SSHD",
        "2.20.0",
        maven(
            "org.apache.sshd:sshd-sftp:2.20.0",
            "org.slf4j:slf4j-nop:2.0.17",
            "net.i2p.crypto:eddsa:0.3.0",
        ),
        _ONE,
        _mina,
    ),
    Row(
        "pkg/sftp (Go)",
        "1.13.12",
        go_program("sftp_server.go", "github.com/pkg/sftp@v1.13.12", "golang.org/x/crypto@latest"),
        _ONE,
        _go_sftp,
    ),
    Row(
        "OpenSSH",
        debian_version("openssh-server"),
        _OPENSSH,
        _ONE,
        _openssh("ed25519"),
        needs_root=True,
    ),
    Row(
        "OpenSSH, ECDSA host key",
        debian_version("openssh-server"),
        _OPENSSH,
        _ONE,
        _openssh("ecdsa"),
        needs_root=True,
    ),
    Row(
        "OpenSSH, RSA host key",
        debian_version("openssh-server"),
        _OPENSSH,
        _ONE,
        _openssh("rsa"),
        needs_root=True,
    ),
    Row(
        "Dropbear with OpenSSH's sftp-server",
        debian_version("dropbear-bin"),
        debian("dropbear-bin", "libtomcrypt1", "libtommath1", "openssh-sftp-server"),
        _ONE,
        _dropbear,
        needs_root=True,
    ),
)
