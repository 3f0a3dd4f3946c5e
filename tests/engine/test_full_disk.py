"""An upload that a full disk ends leaves the old file as it was, and nothing beside it."""

import base64
import contextlib
import ftplib
import http.client
import io
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from raw_engine import RawEngine

from lanlab.engine import engine_path

SECRET, OLD = "s3cret &/ word", b"old" * 1000
#: The upload does not fit beside the old file, and would not by itself.
DISK, UPLOAD = "1m", bytes(3 << 20)
#: Mount a small disk that only this process sees, where users may.
_OWN_MOUNTS = ["unshare", "--user", "--map-root-user", "--mount"]


def _has_own_mounts() -> bool:
    if shutil.which("unshare") is None:
        return False
    mount = [*_OWN_MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(mount, capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not _has_own_mounts(), reason="needs mount namespaces of users")


def _put(port: int, path: str = "/kept") -> str:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    token = base64.b64encode(f"me:{SECRET}".encode()).decode()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        client.request("PUT", path, UPLOAD, {"Authorization": f"Basic {token}"})
    try:
        return str(client.getresponse().status)
    except (ConnectionError, http.client.HTTPException) as error:
        return type(error).__name__


def _put_object(port: int) -> str:
    return _put(port, "/lanlab/kept")


def _store(port: int) -> str:
    with contextlib.closing(ftplib.FTP()) as client:
        client.connect("127.0.0.1", port, 20)
        client.login("me", SECRET)
        try:
            try:
                return client.storbinary("STOR kept", io.BytesIO(UPLOAD))
            except OSError:
                # The server closed the data connection; its reply says why.
                return client.voidresp()
        except ftplib.Error as error:
            return str(error)


@pytest.mark.parametrize(
    ("service", "upload"), [("webdav", _put), ("s3", _put_object), ("ftp", _store)]
)
def test_an_upload_to_a_full_disk_keeps_the_old_file(
    service: str, upload: Callable[[int], str], tmp_path: Path
) -> None:
    disk = shlex.quote(str(tmp_path))
    script = f"mount -t tmpfs -o size={DISK} none {disk} && exec {shlex.quote(engine_path())}"
    with RawEngine([*_OWN_MOUNTS, "sh", "-c", script]) as server:
        # The disk as that process sees it.
        seen = Path(f"/proc/{server.process.pid}/root{tmp_path}")
        (seen / "kept").write_bytes(OLD)
        request = {
            "type": "serve",
            "service": service,
            "root": str(tmp_path),
            "bind": "127.0.0.1",
            # Requests to S3 would have to be signed.
            "credentials": None if service == "s3" else {"user": "me", "secret": SECRET},
        }
        ready = server.wait(server.send(request), "ready", "error")
        assert ready["type"] == "ready", ready
        answer = upload(ready["ports"][0])
        # Refused for want of space, or cut off: not for its login.
        assert not answer.startswith(("2", "400", "401", "403", "404")), answer
        assert [one.name for one in seen.iterdir()] == ["kept"], answer
        assert (seen / "kept").read_bytes() == OLD
        assert server.is_usable()
