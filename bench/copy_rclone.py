"""How rclone copies a directory, for `copy_clients.py`."""

from __future__ import annotations

import subprocess

from copy_peers import Copying, Peer

from lanlab.errors import RunError


class Rclone(Peer):
    """`rclone copy`, with one file at once and with four, as it has it by itself."""

    program = "rclone"
    services = ("ftp", "sftp", "webdav", "smb", "s3")
    streams = (1, 4)
    version_arguments = ("version",)

    def command(self, copying: Copying, streams: int) -> tuple[list[str], str, dict[str, str]]:
        """See `Peer.command`."""
        server = copying.server
        assert copying.user is not None
        place, options = copying.name, {"TYPE": server.service, "USER": copying.user}
        where = f"http://{copying.address}:{server.port}"
        if server.service == "s3":
            options = {"TYPE": "s3", "PROVIDER": "Other", "ENDPOINT": where}
            options |= {"ACCESS_KEY_ID": copying.user, "SECRET_ACCESS_KEY": copying.secret}
        elif server.service == "webdav":
            options["URL"] = where
        else:
            options |= {"HOST": copying.address, "PORT": str(server.port)}
        if server.service == "sftp":
            options["DISABLE_HASHCHECK"] = "true"
        if server.service == "sftp" and copying.has_key:
            options["KEY_FILE"] = str(copying.key)
        elif server.service != "s3":
            options["PASS"] = self._obscured(copying.secret)
        if server.service in ("smb", "s3"):
            place = f"{server.share}/{copying.name}"
        ends = [".", f"there:{place}"] if copying.is_upload else [f"there:{place}", "."]
        argv = [self.program, "copy", "--config", "/dev/null", "--transfers", str(streams)]
        argv += ["--multi-thread-streams", "0", "--retries", "1", "--log-level", "ERROR", *ends]
        return argv, "", {f"RCLONE_CONFIG_THERE_{key}": value for key, value in options.items()}

    def _obscured(self, secret: str) -> str:
        done = subprocess.run(
            [self.program, "obscure", "-"],
            input=secret,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RunError(f"`rclone obscure` failed: {done.stderr.strip()}")
        return done.stdout.strip()
