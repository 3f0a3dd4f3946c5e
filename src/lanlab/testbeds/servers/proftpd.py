"""
ProFTPD, for FTP, with or without TLS.

Without root it cannot change its root directory, so access outside the served one is forbidden by
configuration.
"""

from __future__ import annotations

from pathlib import Path

from lanlab.errors import UnmetNeed
from lanlab.testbeds.servers.base import Launch, Place, Server
from lanlab.testbeds.servers.identities import certificate
from lanlab.testbeds.servers.users import name_of_group
from lanlab.testbeds.tools import tool

#: In the name of a directory, it reads these as patterns and variables (glob(7), and its own `%`).
_PATTERNS = '*?[]{}~%"\\'
_TLS_MODULE = "mod_tls.so"


class ProFtpd(Server):
    name = "proftpd"
    services = ("ftp", "ftps")
    programs = ("proftpd",)
    how_to_get = "apt install proftpd-core proftpd-mod-crypto"
    needs_user = True
    version_arguments = ("-v",)

    def root_problem(self, root: Path) -> str | None:
        """See `Server.root_problem`: its configuration takes some characters for patterns."""
        found = sorted(set(str(root.resolve())) & set(_PATTERNS))
        if not found:
            return None
        return f"server `{self.name}`: found {' '.join(found)} in `{root}`; allowed: no pattern"

    def launch(self, place: Place) -> Launch:
        assert place.credentials is not None
        (port,) = place.ports
        log = place.private / "proftpd.log"
        modules, tls, trust = "", "", None
        if place.service == "ftps":
            folder = self._module_folder()
            modules = f'ModulePath "{folder}"\nLoadModule mod_tls.c\n'
            identity = certificate(place)
            tls = place.fill(
                "proftpd-tls.conf", certificate=identity.public, key=identity.key, log=log
            )
            trust = identity.sha256
        # The hash is made once, and checked at each login.
        hashed = place.run(
            [tool("openssl"), "passwd", "-6", "-stdin"], f"{place.credentials.secret}\n"
        ).strip()
        root = place.root.resolve()
        user = f"{place.credentials.user}:{hashed}:{place.uid}:{place.gid}::/:/bin/sh\n"
        place.write("users", user)
        place.write("groups", f"lanlab:x:{place.gid}:{place.credentials.user}\n")
        text = place.fill(
            "proftpd.conf",
            modules=modules,
            port=port,
            address=place.address,
            ipv6="on" if ":" in place.address else "off",
            user=place.user,
            group=name_of_group(place.gid) or place.gid,
            private=place.private,
            log=log,
            root=root,
            tls=tls,
        )
        configuration = place.write("proftpd.conf", text)
        argv = [self.path("proftpd"), "--nodaemon", "--config", str(configuration)]
        return Launch(argv, port, trust_sha256=trust, logs=(log,))

    def _module_folder(self) -> Path:
        # The relative location is the same in every distribution and in manual installations.
        programs = Path(self.path("proftpd")).resolve().parent
        for folder in (programs.parent / "lib/proftpd", programs.parent / "libexec/proftpd"):
            if (folder / _TLS_MODULE).is_file():
                return folder
        raise UnmetNeed(
            f"server `{self.name}` needs `{_TLS_MODULE}` for TLS, not found next to it",
            hint=self.how_to_get,
        )
