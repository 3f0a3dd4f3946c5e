"""A server's identity: a certificate or a host key, used only while the server runs."""

from __future__ import annotations

import base64
import hashlib
import ssl
from pathlib import Path

from lanlab.frozen import dataclass
from lanlab.testbeds.servers.base import Place
from lanlab.testbeds.tools import tool


@dataclass(frozen=True)
class Identity:
    key: Path
    public: Path
    #: Digest of the certificate (DER), or of the host key's public blob, in hexadecimal.
    sha256: str


def certificate(place: Place) -> Identity:
    """
    A self-signed certificate for the place's address, with its key (ECDSA, P-256).

    Raises:
        UnmetNeed: `openssl` is missing.
        RunError: It failed.
    """
    key, public = place.private / "tls.key", place.private / "tls.crt"
    names = f"subjectAltName=IP:{place.address},DNS:localhost"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    files = ["-keyout", str(key), "-out", str(public)]
    subject = ["-subj", "/CN=lanlab", "-addext", names, "-days", "30"]
    # The system's configuration is ignored, because it may require more.
    empty = place.write("openssl.cnf", "[req]\ndistinguished_name = name\n[name]\n")
    place.run([tool("openssl"), "req", "-x509", "-config", str(empty), *curve, *files, *subject])
    der = ssl.PEM_cert_to_DER_cert(public.read_text())
    return Identity(key, public, hashlib.sha256(der).hexdigest())


def ssh_key(place: Place, name: str) -> Identity:
    """
    A key of SSH (Ed25519) without a passphrase.

    Raises:
        UnmetNeed: `ssh-keygen` is missing.
        RunError: It failed.
    """
    key = place.private / name
    argv = [tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "lanlab", "-f", str(key)]
    place.run(argv)
    public = key.with_name(f"{name}.pub")
    blob = base64.b64decode(public.read_text().split()[1])
    return Identity(key, public, hashlib.sha256(blob).hexdigest())
