"""
OpenSSH, for SFTP.

It runs as an ordinary user and can only let in that user, by a key: passwords are the system's,
which other programs cannot read. So user and key are created here, and the requested password is
not used (`RunningServer.credentials`).

A session begins in the served directory. Without root the server cannot confine it: the session has
all rights of its user.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lanlab.disk import remove_file
from lanlab.errors import UnmetNeed
from lanlab.testbeds.base import Host
from lanlab.testbeds.servers.base import Credentials, Launch, Place, Server
from lanlab.testbeds.servers.identities import ssh_key
from lanlab.testbeds.servers.users import name_of_user
from lanlab.testbeds.tools import tool


class OpenSsh(Server):
    name = "openssh"
    services = ("sftp",)
    programs = ("sshd", "ssh-keygen")
    how_to_get = "apt install openssh-server"
    nobody = "daemon"

    def launch(self, place: Place) -> Launch:
        host = ssh_key(place, "host_key")
        user = ssh_key(place, "user_key")
        authorized = place.write("authorized_keys", user.public.read_text())
        secret = user.key.read_text()
        # The file belongs to the client alone.
        remove_file(user.key)
        (port,) = place.ports
        text = place.fill(
            "sshd_config",
            port=port,
            address=place.address,
            host_key=host.key,
            authorized=authorized,
            private=place.private,
            served=place.served,
            user=place.user,
        )
        configuration = place.write("sshd_config", text)
        log = place.private / "sshd.log"
        # sshd needs its whole path: it starts itself anew for each connection.
        argv = [self.path("sshd"), "-D", "-f", str(configuration), "-E", str(log)]
        credentials = Credentials(place.user, secret)
        return Launch(argv, port, credentials=credentials, trust_sha256=host.sha256, logs=(log,))

    def check_found(self, host: Host | None = None) -> None:
        """
        See `Server.check_found`; also checks that the server lets its user in.

        Without PAM it looks for a `!` before the password. For users who may not read /etc/shadow,
        systemd's `nss-systemd` answers instead, and reports that for `nobody`.
        """
        super().check_found(host)
        if os.geteuid() == 0:
            return
        name = name_of_user(os.geteuid()) or ""
        shown = subprocess.run(
            [tool("getent"), "shadow", name],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        ).stdout
        if shown.partition(":")[2].startswith("!"):
            raise UnmetNeed(
                f"server `{self.name}` refuses logins as `{name}`: that account is locked",
                hint="run lanlab as another user",
            )

    def acts_as(self, root: Path) -> tuple[int, int]:
        """See `Server.acts_as`; not `nobody`, see `check_found`."""
        uid, gid = super().acts_as(root)
        if name_of_user(uid) == "nobody":
            raise UnmetNeed(
                f"server `{self.name}` refuses every login as `nobody`, who owns `{root}`",
                hint=f"chown -R {self.nobody} {root}",
            )
        return uid, gid
