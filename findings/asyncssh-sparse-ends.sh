#!/usr/bin/env bash
# AsyncSSH: how long is the copy of a sparse file (SFTP `get`, `put`, `copy`) whose end is a hole?
#
# Expected: as long as the file, with zeros where the hole is. The manual of `get`: "sparse: Whether or not to do a
# sparse file copy where it is supported", by default yes; and each method is "to copy" files, whatever they hold.
# Found: it ends where the last data end. Of 5 MB with 1 kB of data at the start, 4 kB are copied, and of 5 MB without
# data nothing is, without an error. Copies with `sparse=False`, and of files with a hole elsewhere, are right.
# Exits 1 if that has changed. Needs python3 with venv, and a file system with holes.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here" && mkdir served
python3 -m venv v && v/bin/pip -qq install --no-compile asyncssh==2.24.1
v/bin/python - <<'PYTHON'
import asyncio
import pathlib
import sys

import asyncssh

SIZE_BYTES = 5_000_000


class Server(asyncssh.SSHServer):
    def begin_auth(self, username):
        return False


def make(name, pieces):
    """Make a sparse file of some pieces of 1000 bytes."""
    file = pathlib.Path(name)
    with file.open("wb") as writer:
        for at in pieces:
            writer.seek(at)
            writer.write(b"x" * 1000)
        writer.truncate(SIZE_BYTES)
    return file


async def main():
    print("AsyncSSH", asyncssh.__version__)
    key = asyncssh.generate_private_key("ssh-ed25519")
    files = [
        make("start", [0]),
        make("end", [SIZE_BYTES - 1000]),
        make("nothing", []),
    ]
    served = pathlib.Path("served").resolve()
    found = {}
    async with (
        asyncssh.listen("127.0.0.1", 0, server_factory=Server, server_host_keys=[key], sftp_factory=True) as server,
        asyncssh.connect("127.0.0.1", server.get_port(), known_hosts=None, username="user") as connection,
        connection.start_sftp_client() as client,
    ):
        for file in files:
            for way in ("get", "put", "copy"):
                for sparse in (True, False):
                    source, target = file.resolve(), served / f"{way} of {file.name}, sparse {sparse}"
                    await getattr(client, way)(source, target, sparse=sparse)
                    octets = target.read_bytes()
                    found[file.name, way, sparse] = len(octets)
                    equal = "equal" if octets == source.read_bytes() else "not equal"
                    print(f"data at {file.name:<8} {way:<5} sparse={sparse!s:<6} {len(octets):>8} bytes, {equal}")
    right = all(
        size == SIZE_BYTES for (name, _, sparse), size in found.items() if name == "end" or not sparse
    )
    wrong = all(
        size < SIZE_BYTES // 100 for (name, _, sparse), size in found.items() if name != "end" and sparse
    )
    sys.exit(not (right and wrong))


asyncio.run(main())
PYTHON
