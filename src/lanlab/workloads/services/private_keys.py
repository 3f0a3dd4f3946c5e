"""SSH private keys given in place of a password: they sign a login, and are never sent."""

from __future__ import annotations

import base64
import binascii
import re

#: The line that begins a key: PEM, PKCS#8 and OpenSSH; RFC 4716; PuTTY. Keep equal to the engine
#: (`crates/files/src/target.rs`).
_MARKS = ("-----BEGIN", "---- BEGIN", "PuTTY-User-Key-File")
#: Headers of a key that needs a passphrase: PEM, PKCS#8, PuTTY.
_ENCRYPTED = re.compile(
    r"^(Proc-Type: *4, *ENCRYPTED|-----BEGIN ENCRYPTED |Encryption: (?!none))", re.MULTILINE
)
_OPENSSH = re.compile(r"-----BEGIN OPENSSH PRIVATE KEY-----(.*?)-----END", re.DOTALL)
_OPENSSH_MAGIC = b"openssh-key-v1\0"


def is_private_key(secret: str) -> bool:
    """
    Whether a secret is a private key, even if other lines precede it in its file.

    Examples:
        >>> is_private_key("\\n\\ufeff-----BEGIN RSA PRIVATE KEY-----"), is_private_key("-----")
        (True, False)
    """
    lines = (line.strip(" \t\ufeff") for line in secret.splitlines())
    return any(line.startswith(_MARKS) for line in lines)


def needs_passphrase(key: str) -> bool:
    """
    Whether a private key is encrypted.

    Examples:
        >>> needs_passphrase("PuTTY-User-Key-File-3: ssh-rsa\\nEncryption: aes256-cbc")
        True
        >>> needs_passphrase("-----BEGIN PRIVATE KEY-----")
        False
    """
    if _ENCRYPTED.search(key.replace("\r", "\n")):
        return True
    found = _OPENSSH.search(key)
    if found is None:
        return False
    try:
        content = base64.b64decode("".join(found[1].split()))
    except binascii.Error:
        return False
    # The length of the cipher's name precedes it.
    return not content.removeprefix(_OPENSSH_MAGIC)[4:].startswith(b"none")
