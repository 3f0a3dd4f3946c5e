"""
vsftpd, for FTP, with or without TLS.

It needs root, and only lets in users of the system. In its own mount namespace it finds lanlab's
lists of users and PAM rule in place of the system's: only one user can log in, with the requested
name and password, and acts as the owner of the directory.
"""

from __future__ import annotations

import os
import subprocess

from lanlab.testbeds.servers.base import Launch, Place, Server
from lanlab.testbeds.servers.identities import certificate
from lanlab.testbeds.tools import tool

_PAM = """\
auth required pam_unix.so
account required pam_unix.so
session required pam_permit.so
"""
_PASSWD = """\
root:x:0:0::/:/bin/sh
nobody:x:65534:65534::/:/bin/sh
{user}:x:{uid}:{gid}::/:/bin/sh
"""
_SHADOW = "root:!:1::::::\nnobody:!:1::::::\n{user}:{hashed}:1::::::\n"
_VERSION_WITHIN_S = 10.0


class Vsftpd(Server):
    name = "vsftpd"
    services = ("ftp", "ftps")
    programs = ("vsftpd", "unshare", "mount")
    how_to_get = "apt install vsftpd"
    needs_user = True
    needs_root = True

    def version(self) -> str:
        """See `Server.version`. vsftpd prints it to its standard input (file descriptor 0)."""
        reading, writing = os.pipe()
        try:
            subprocess.run(
                [self.path("vsftpd"), "-v"],
                stdin=writing,
                stdout=writing,
                stderr=writing,
                timeout=_VERSION_WITHIN_S,
                check=False,
            )
        finally:
            os.close(writing)
        with os.fdopen(reading, errors="replace") as file:
            return file.read().strip() or "does not tell its version"

    def launch(self, place: Place) -> Launch:
        assert place.credentials is not None
        (port,) = place.ports
        tls, trust = "", None
        if place.service == "ftps":
            identity = certificate(place)
            tls = place.fill("vsftpd-tls.conf", certificate=identity.public, key=identity.key)
            trust = identity.sha256
        place.folder("empty")
        user, uid, gid = place.credentials.user, *self.acts_as(place.root)
        hashed = place.run(
            [tool("openssl"), "passwd", "-6", "-stdin"], f"{place.credentials.secret}\n"
        ).strip()
        place.write("etc/pam.d/lanlab", _PAM)
        place.write("etc/passwd", _PASSWD.format(user=user, uid=uid, gid=gid), mode=0o644)
        place.write("etc/shadow", _SHADOW.format(user=user, hashed=hashed))
        six = ":" in place.address
        text = place.fill(
            "vsftpd.conf",
            ipv4="NO" if six else "YES",
            ipv6="YES" if six else "NO",
            six="6" if six else "",
            address=place.address,
            port=port,
            root=place.root.resolve(),
            private=place.private,
            tls=tls,
        )
        configuration = place.write("vsftpd.conf", text)
        script = place.write("start", place.fill("vsftpd.sh", private=place.private))
        before = [tool("unshare"), "--mount", "--propagation", "private", "--", "/bin/sh"]
        argv = [*before, str(script), self.path("vsftpd"), str(configuration)]
        return Launch(argv, port, trust_sha256=trust, logs=(place.private / "vsftpd.log",))
