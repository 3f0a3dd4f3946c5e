"""
NFS-Ganesha, for NFS versions 3 and 4.1, in user space.

Without Kerberos, NFS has no logins: any client that reaches it may do everything that the
directory's owner may. Clients of version 3 find the ports of a mount through `rpcbind`, which needs
port 111 of its host, so the host must have its own network. Opening files by handle needs root.
"""

from __future__ import annotations

from lanlab.testbeds.servers.base import Credentials, Launch, Place, Server
from lanlab.testbeds.tools import tool

EXPORT = "/data"


class Ganesha(Server):
    name = "ganesha"
    services = ("nfs", "nfs4")
    programs = ("ganesha.nfsd", "rpcbind", "unshare", "mount")
    how_to_get = "apt install nfs-ganesha nfs-ganesha-vfs rpcbind"
    needs_root = True
    needs_own_network = True
    ports = 4
    version_arguments = ("-v",)

    def problem(self, service: str, credentials: Credentials | None) -> str | None:
        if credentials is not None:
            return f"server `{self.name}`: found a user; allowed: none, as NFS has no login"
        return super().problem(service, credentials)

    def launch(self, place: Place) -> Launch:
        port, mount_port, lock_port, quota_port = place.ports
        uid, gid = self.acts_as(place.root)
        text = place.fill(
            "ganesha.conf",
            port=port,
            mount_port=mount_port,
            lock_port=lock_port,
            quota_port=quota_port,
            uid=uid,
            gid=gid,
            root=str(place.root.resolve()).replace("\\", "\\\\").replace('"', '\\"'),
            export=EXPORT,
            recovery=place.folder("recovery"),
        )
        configuration = place.write("ganesha.conf", text)
        script = place.write("start", place.fill("ganesha.sh", rpcbind=self.path("rpcbind")))
        log = place.private / "ganesha.log"
        before = [tool("unshare"), "--mount", "--propagation", "private", "--", "/bin/sh"]
        ganesha = [self.path("ganesha.nfsd"), "-F", "-f", str(configuration), "-L", str(log)]
        argv = [*before, str(script), *ganesha, "-p", str(place.private / "ganesha.pid")]
        ports = {"mount": mount_port}
        share = EXPORT if place.service == "nfs4" else str(place.root.resolve())
        return Launch(argv, port, share=share, other_ports=ports, logs=(log,))
