"""
nginx, for WebDAV over HTTP/1.1, with or without TLS.

`dav_ext_module` is a separate module, which Debian packages. The password is checked on every
request, so it is stored in plain text in a file for the server alone: hashing it each time would
distort the measurement.
"""

from __future__ import annotations

import os
from pathlib import Path

from lanlab.disk import TemporaryFolder
from lanlab.errors import UnmetNeed
from lanlab.testbeds.base import Host
from lanlab.testbeds.servers.base import Launch, Place, Server
from lanlab.testbeds.servers.identities import certificate

_MODULE = "ngx_http_dav_ext_module.so"
_MODULE_FOLDERS = ("/usr/lib/nginx/modules", "/usr/lib64/nginx/modules", "/usr/share/nginx/modules")


class Nginx(Server):
    name = "nginx"
    services = ("webdav", "webdavs")
    programs = ("nginx",)
    how_to_get = "apt install nginx-light libnginx-mod-http-dav-ext"
    version_arguments = ("-v",)

    def check_found(self, host: Host | None = None) -> None:
        """See `Server.check_found`; also for the module."""
        super().check_found(host)
        self._module()

    def _module(self) -> Path:
        for folder in _MODULE_FOLDERS:
            if (path := Path(folder, _MODULE)).is_file():
                return path
        raise UnmetNeed(
            f"server `{self.name}` needs `{_MODULE}`, not found in {', '.join(_MODULE_FOLDERS)}",
            hint=self.how_to_get,
        )

    def further_folders(self, root: Path, private: Path) -> list[TemporaryFolder]:
        """Folder of incomplete uploads: on the destination's file system, otherwise each upload
        would be copied once more.
        """
        if private.stat().st_dev == root.stat().st_dev:
            return []
        parent = root.parent
        if parent.stat().st_dev != root.stat().st_dev or not os.access(parent, os.W_OK | os.X_OK):
            raise UnmetNeed(
                f"server `{self.name}` needs a folder in the file system of `{root}` for uploads, "
                f"and cannot make one in `{parent}`",
                hint=f"serve a directory below `{root}`",
            )
        return [TemporaryFolder(".lanlab-uploads-", parent)]

    def launch(self, place: Place) -> Launch:
        (port,) = place.ports
        identity = certificate(place) if place.service == "webdavs" else None
        login = ""
        if place.credentials is not None:
            who = f"{place.credentials.user}:{{PLAIN}}{place.credentials.secret}\n"
            file = place.write("users", who)
            login = f'            auth_basic "lanlab";\n            auth_basic_user_file {file};\n'
        tls = ""
        if identity is not None:
            pair = {"certificate": identity.public, "certificate_key": identity.key}
            tls = "".join(f"        ssl_{key} {path};\n" for key, path in pair.items())
        address = f"[{place.address}]" if ":" in place.address else place.address
        text = place.fill(
            "nginx.conf",
            module=self._module(),
            private=place.private,
            uploads=_quoted(place.further[0] if place.further else place.folder("uploads")),
            listen=f"{address}:{port}",
            ssl=" ssl" if identity else "",
            tls=tls,
            served=place.served,
            login=login,
        )
        configuration = place.write("nginx.conf", text)
        log = place.private / "error.log"
        argv = [self.path("nginx"), "-c", str(configuration), "-p", str(place.private), "-e"]
        trust = identity.sha256 if identity else None
        return Launch([*argv, str(log)], port, trust_sha256=trust, logs=(log,))


def _quoted(path: Path) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'
